//go:build arm64 && !noasm && gc

package gemm

// backends returns the backends that this machine can run, fastest first. Every arm64
// CPU that Go supports has NEON.
func backends() []backend { return []backend{neonBackend(), genericBackend()} }

func neonBackend() backend {
	return backend{
		&kernels[float32]{
			name: "neon", mr: 6, nr: 16, lanes: 4,
			tile: tileNEON32,
			dots: dotsNEON32, dotA: 3, dotB: 2,
			gauss:      gaussNEON32,
			exp:        expNEON32,
			sumSquares: inEights(sumSquares32NEONF64),
			product:    productGeneric[float32],
			transpose: func(blocks int, src []float32, lds int, dst []float32) {
				packNEONF32(blocks, &src[0], 4*lds, &dst[0])
			},
			side: 4,
		},
		&kernels[float64]{
			name: "neon", mr: 6, nr: 8, lanes: 2,
			tile: tileNEON64,
			dots: dotsNEON64, dotA: 3, dotB: 2,
			gauss:      gaussNEON64,
			exp:        expNEON64,
			sumSquares: squares(dotNEON),
			product:    productNEON,
			transpose: func(blocks int, src []float64, lds int, dst []float64) {
				packNEONF64(blocks, &src[0], 8*lds, &dst[0])
			},
			side: 2,
		},
		&vectors{dotNEON, axpyNEON, largestNEON},
	}
}

// NEON has no masked loads or stores. A partial tile is computed as a whole tile and copied.
// The rest of a sum is padded with zeros to 64 bytes, the unit in which sums are formed. The
// rest of an elementwise operation is padded to a vector; in float64 it is a single element,
// which plain Go computes.

func tileNEON32(rows, cols, k int, a []float32, lda int, p []float32, alpha, beta float32, c []float32, ldc int) {
	vecs := (cols + 3) / 4
	if cols == 4*vecs {
		tileNEONF32(rows, vecs, k, &a[0], 4*lda, &p[0], &c[0], 4*ldc, alpha, beta)
		return
	}
	var t [6 * 16]float32
	if beta != 0 {
		copyTile(t[:], 16, c, ldc, rows, cols)
	}
	tileNEONF32(rows, vecs, k, &a[0], 4*lda, &p[0], &t[0], 4*16, alpha, beta)
	copyTile(c, ldc, t[:], 16, rows, cols)
}

func tileNEON64(rows, cols, k int, a []float64, lda int, p []float64, alpha, beta float64, c []float64, ldc int) {
	vecs := (cols + 1) / 2
	if cols == 2*vecs {
		tileNEONF64(rows, vecs, k, &a[0], 8*lda, &p[0], &c[0], 8*ldc, alpha, beta)
		return
	}
	var t [6 * 8]float64
	if beta != 0 {
		copyTile(t[:], 8, c, ldc, rows, cols)
	}
	tileNEONF64(rows, vecs, k, &a[0], 8*lda, &p[0], &t[0], 8*8, alpha, beta)
	copyTile(c, ldc, t[:], 8, rows, cols)
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

func expNEON32(dst, src []float32) {
	whole := len(dst) &^ 3
	if whole > 0 {
		expNEONF32(whole, &dst[0], &src[0])
	}
	if whole < len(dst) {
		var t [4]float32
		copy(t[:], src[whole:])
		expNEONF32(4, &t[0], &t[0])
		copy(dst[whole:], t[:])
	}
}

func expNEON64(dst, src []float64) {
	whole := len(dst) &^ 1
	if whole > 0 {
		expNEONF64(whole, &dst[0], &src[0])
	}
	expGeneric64(dst[whole:], src[whole:])
}

func gaussNEON32(c, nb []float32, na, gamma float32) {
	whole := len(c) &^ 3
	if whole > 0 {
		gaussNEONF32(whole, &c[0], &nb[0], na, -gamma)
	}
	if whole < len(c) {
		var t, u [4]float32
		copy(t[:], c[whole:])
		copy(u[:], nb[whole:])
		gaussNEONF32(4, &t[0], &u[0], na, -gamma)
		copy(c[whole:], t[:])
	}
}

func gaussNEON64(c, nb []float64, na, gamma float64) {
	whole := len(c) &^ 1
	if whole > 0 {
		gaussNEONF64(whole, &c[0], &nb[0], na, -gamma)
	}
	gaussGeneric64(c[whole:], nb[whole:], na, gamma)
}

func dotNEON(x, y []float64) float64 {
	whole := len(x) &^ 7
	if whole == len(x) {
		return dotNEONF64(whole, &x[0], &y[0], nil)
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

func productNEON(dst, x, y []float64) {
	i := len(x) &^ 1
	if i > 0 {
		productNEONF64(i, &x[0], &y[0], &dst[0])
	}
	productGeneric(dst[i:], x[i:], y[i:])
}

func largestNEON(x, y []float64) {
	i := len(x) &^ 1
	if i > 0 {
		largestNEONF64(i, &x[0], &y[0])
	}
	largestGeneric(x[i:], y[i:])
}
