//go:build amd64 && !noasm && gc

package gemm

import "golang.org/x/sys/cpu"

// backends returns the backends that this machine can run, fastest first.
func backends() []backend {
	list := []backend{genericBackend()}
	x := &cpu.X86
	if !x.HasAVX2 || !x.HasFMA || !x.HasBMI2 {
		return list
	}
	list = append([]backend{avx2Backend()}, list...)
	if !x.HasAVX512F || !x.HasAVX512DQ || !x.HasAVX512BW || !x.HasAVX512VL {
		return list
	}
	return append([]backend{avx512Backend()}, list...)
}

// routines are the assembly routines of one element type that process whole vectors and mask the rest.
type routines[T Float] struct {
	dots    func(ra, rb, k int, a *T, lda int, b *T, ldb int, out *T)
	gauss   func(n int, c, nb *T, na, negGamma T)
	exp     func(n int, dst, src *T)
	product func(n int, x, y, dst *T)
	pack    func(blocks int, src *T, lds int, dst *T)
}

// masked completes kr with assembly routines, which take addresses and strides in bytes.
func masked[T Float](kr *kernels[T], r routines[T]) *kernels[T] {
	size := sizeOf[T]()
	kr.dots = func(ra, rb, k int, a []T, lda int, b []T, ldb int, out *dotTile[T]) {
		r.dots(ra, rb, k, &a[0], size*lda, &b[0], size*ldb, &out[0])
	}
	kr.gauss = func(c, nb []T, na, gamma T) { r.gauss(len(c), &c[0], &nb[0], na, -gamma) }
	kr.exp = func(dst, src []T) { r.exp(len(dst), &dst[0], &src[0]) }
	kr.product = func(dst, x, y []T) { r.product(len(x), &x[0], &y[0], &dst[0]) }
	kr.transpose = func(blocks int, src []T, lds int, dst []T) { r.pack(blocks, &src[0], size*lds, &dst[0]) }
	kr.side = 32 / size
	return kr
}

func avx512Backend() backend {
	dot := func(x, y []float64) float64 { return dotAVX512F64(len(x), &x[0], &y[0]) }
	return backend{
		masked(&kernels[float32]{
			name: "avx512", mr: 8, nr: 48, lanes: 16, tile: tile512F32, dotA: 6, dotB: 4,
			sumSquares: inEights(sumSquares32AVX512F64),
		}, routines[float32]{dotsAVX512F32, gaussAVX512F32, expAVX512F32, productAVX512F32, packAVX512F32}),
		masked(&kernels[float64]{
			name: "avx512", mr: 8, nr: 24, lanes: 8, tile: tile512F64, dotA: 6, dotB: 4,
			sumSquares: squares(dot),
		}, routines[float64]{dotsAVX512F64, gaussAVX512F64, expAVX512F64, productAVX512F64, packAVX512F64}),
		&vectors{
			dot:     dot,
			axpy:    func(alpha float64, x, y []float64) { axpyAVX512F64(len(x), alpha, &x[0], &y[0]) },
			largest: func(x, y []float64) { largestAVX512F64(len(x), &x[0], &y[0]) },
		},
	}
}

func avx2Backend() backend {
	dot := func(x, y []float64) float64 { return dotAVX2F64(len(x), &x[0], &y[0]) }
	return backend{
		masked(&kernels[float32]{
			name: "avx2", mr: 6, nr: 16, lanes: 8, tile: tile2F32, dotA: 2, dotB: 2,
			sumSquares: inEights(sumSquares32AVX2F64),
		}, routines[float32]{dotsAVX2F32, gaussAVX2F32, expAVX2F32, productAVX2F32, packAVX2F32}),
		masked(&kernels[float64]{
			name: "avx2", mr: 6, nr: 8, lanes: 4, tile: tile2F64, dotA: 2, dotB: 2,
			sumSquares: squares(dot),
		}, routines[float64]{dotsAVX2F64, gaussAVX2F64, expAVX2F64, productAVX2F64, packAVX2F64}),
		&vectors{
			dot:     dot,
			axpy:    func(alpha float64, x, y []float64) { axpyAVX2F64(len(x), alpha, &x[0], &y[0]) },
			largest: func(x, y []float64) { largestAVX2F64(len(x), &x[0], &y[0]) },
		},
	}
}

func tile512F32(rows, cols, k int, a []float32, lda int, p []float32, alpha, beta float32, c []float32, ldc int) {
	vecs := (cols + 15) / 16
	tileAVX512F32(rows, vecs, k, &a[0], 4*lda, &p[0], &c[0], 4*ldc, alpha, beta, cols-16*(vecs-1))
}

func tile512F64(rows, cols, k int, a []float64, lda int, p []float64, alpha, beta float64, c []float64, ldc int) {
	vecs := (cols + 7) / 8
	tileAVX512F64(rows, vecs, k, &a[0], 8*lda, &p[0], &c[0], 8*ldc, alpha, beta, cols-8*(vecs-1))
}

func tile2F32(rows, cols, k int, a []float32, lda int, p []float32, alpha, beta float32, c []float32, ldc int) {
	vecs := (cols + 7) / 8
	if cols == 8*vecs {
		tileAVX2F32(rows, vecs, k, &a[0], 4*lda, &p[0], &c[0], 4*ldc, alpha, beta, 8)
		return
	}
	// A masked store is slow on some CPUs: compute a whole tile and copy its part.
	var t [6 * 16]float32
	if beta != 0 {
		copyTile(t[:], 16, c, ldc, rows, cols)
	}
	tileAVX2F32(rows, vecs, k, &a[0], 4*lda, &p[0], &t[0], 4*16, alpha, beta, 8)
	copyTile(c, ldc, t[:], 16, rows, cols)
}

func tile2F64(rows, cols, k int, a []float64, lda int, p []float64, alpha, beta float64, c []float64, ldc int) {
	vecs := (cols + 3) / 4
	if cols == 4*vecs {
		tileAVX2F64(rows, vecs, k, &a[0], 8*lda, &p[0], &c[0], 8*ldc, alpha, beta, 4)
		return
	}
	var t [6 * 8]float64
	if beta != 0 {
		copyTile(t[:], 8, c, ldc, rows, cols)
	}
	tileAVX2F64(rows, vecs, k, &a[0], 8*lda, &p[0], &t[0], 8*8, alpha, beta, 4)
	copyTile(c, ldc, t[:], 8, rows, cols)
}
