//go:build arm64 && !noasm && gc

package gemm

import "unsafe"

// backends returns the backends that this machine can run, fastest first. Every arm64
// CPU that Go supports has NEON.
func backends() []backend { return []backend{neonBackend(), genericBackend()} }

// NEON has no masked loads or stores. The rest of a sum is padded with zeros to 64 bytes, the
// unit in which sums are formed. The rest of an elementwise operation is padded to a vector; in
// float64 it is a single element, which plain Go computes.

func neonBackend() backend {
	rest := genericBackend()
	rest.k32.gauss = func(c, nb []float32, na, gamma float32) {
		var t, u [4]float32
		copy(t[:], c)
		copy(u[:], nb)
		gaussNEONF32(4, &t[0], &u[0], na, -gamma)
		copy(c, t[:])
	}
	rest.k32.exp = func(dst, src []float32) {
		var t [4]float32
		copy(t[:], src)
		expNEONF32(4, &t[0], &t[0])
		copy(dst, t[:])
	}
	return backend{
		assembled(&kernels[float32]{
			name: "neon", mr: 6, nr: 16, lanes: 4, dots: dotsNEON32, dotA: 3, dotB: 2, side: 4,
			sumSquares: inEights(sumSquares32NEONF64),
		}, routines[float32]{tileNEONF32, gaussNEONF32, expNEONF32, productNEONF32, packNEONF32}, false, 4, rest.k32),
		assembled(&kernels[float64]{
			name: "neon", mr: 6, nr: 8, lanes: 2, dots: dotsNEON64, dotA: 3, dotB: 2, side: 2,
			sumSquares: func(x []float64) float64 { return dotNEON(x, x) },
		}, routines[float64]{tileNEONF64, gaussNEONF64, expNEONF64, productNEONF64, packNEONF64}, false, 2, rest.k64),
		&vectors{dotNEON, axpyNEON, largestNEON},
	}
}

func dotsNEON32(ra, rb, k int, a []float32, lda int, b []float32, ldb int, out *dotTile[float32]) {
	whole := k &^ 15
	if whole == k {
		dotsNEONF32(ra, rb, k/16, &a[0], 4*lda, &b[0], 4*ldb, nil, &out[0])
		return
	}
	var rest [5 * 16]float32
	copyTile(rest[:], 16, a[whole:], lda, ra, k-whole)
	copyTile(rest[16*ra:], 16, b[whole:], ldb, rb, k-whole)
	dotsNEONF32(ra, rb, k/16, &a[0], 4*lda, &b[0], 4*ldb, &rest[0], &out[0])
}

func dotsNEON64(ra, rb, k int, a []float64, lda int, b []float64, ldb int, out *dotTile[float64]) {
	whole := k &^ 7
	if whole == k {
		dotsNEONF64(ra, rb, k/8, &a[0], 8*lda, &b[0], 8*ldb, nil, &out[0])
		return
	}
	var rest [5 * 8]float64
	copyTile(rest[:], 8, a[whole:], lda, ra, k-whole)
	copyTile(rest[8*ra:], 8, b[whole:], ldb, rb, k-whole)
	dotsNEONF64(ra, rb, k/8, &a[0], 8*lda, &b[0], 8*ldb, &rest[0], &out[0])
}

func dotNEON(x, y []float64) float64 {
	whole := len(x) &^ 7
	if whole == len(x) {
		return dotNEONF64(whole, unsafe.SliceData(x), unsafe.SliceData(y), nil)
	}
	var rest [2 * 8]float64
	copy(rest[:], x[whole:])
	copy(rest[8:], y[whole:])
	return dotNEONF64(whole, &x[0], &y[0], &rest[0])
}

func axpyNEON(alpha float64, x, y []float64) {
	i := len(x) &^ 1
	if i > 0 {
		axpyNEONF64(i, alpha, &x[0], &y[0])
	}
	axpyGeneric(alpha, x[i:], y[i:])
}

func largestNEON(x, y []float64) {
	i := len(x) &^ 1
	if i > 0 {
		largestNEONF64(i, &x[0], &y[0])
	}
	largestGeneric(x[i:], y[i:])
}
