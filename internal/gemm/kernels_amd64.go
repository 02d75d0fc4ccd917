//go:build amd64 && !noasm && gc

package gemm

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

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

// dotsOf returns the dots of an assembly routine, which masks the rest of a row.
func dotsOf[T Float](dots func(ra, rb, k int, a *T, lda int, b *T, ldb int, out *T)) func(ra, rb, k int, a []T, lda int, b []T, ldb int, out *dotTile[T]) {
	size := sizeOf[T]()
	return func(ra, rb, k int, a []T, lda int, b []T, ldb int, out *dotTile[T]) {
		dots(ra, rb, k, &a[0], size*lda, &b[0], size*ldb, &out[0])
	}
}

func avx512Backend() backend {
	dot := func(x, y []float64) float64 { return dotAVX512F64(len(x), unsafe.SliceData(x), unsafe.SliceData(y)) }
	return backend{
		assembled(&kernels[float32]{
			name: "avx512", mr: 8, nr: 48, lanes: 16, dots: dotsOf(dotsAVX512F32), dotA: 6, dotB: 4, side: 8,
			sumSquares: inEights(sumSquares32AVX512F64),
		}, routines[float32]{tileAVX512F32, gaussAVX512F32, expAVX512F32, productAVX512F32, packAVX512F32}, true, 1, nil),
		assembled(&kernels[float64]{
			name: "avx512", mr: 8, nr: 24, lanes: 8, dots: dotsOf(dotsAVX512F64), dotA: 6, dotB: 4, side: 4,
			sumSquares: func(x []float64) float64 { return dot(x, x) },
		}, routines[float64]{tileAVX512F64, gaussAVX512F64, expAVX512F64, productAVX512F64, packAVX512F64}, true, 1, nil),
		&vectors{
			dot: dot,
			axpy: func(alpha float64, x, y []float64) {
				axpyAVX512F64(len(x), alpha, unsafe.SliceData(x), unsafe.SliceData(y))
			},
			largest: func(x, y []float64) { largestAVX512F64(len(x), unsafe.SliceData(x), unsafe.SliceData(y)) },
		},
	}
}

func avx2Backend() backend {
	dot := func(x, y []float64) float64 { return dotAVX2F64(len(x), unsafe.SliceData(x), unsafe.SliceData(y)) }
	return backend{
		assembled(&kernels[float32]{
			name: "avx2", mr: 6, nr: 16, lanes: 8, dots: dotsOf(dotsAVX2F32), dotA: 2, dotB: 2, side: 8,
			sumSquares: inEights(sumSquares32AVX2F64),
		}, routines[float32]{tileAVX2F32, gaussAVX2F32, expAVX2F32, productAVX2F32, packAVX2F32}, false, 1, nil),
		assembled(&kernels[float64]{
			name: "avx2", mr: 6, nr: 8, lanes: 4, dots: dotsOf(dotsAVX2F64), dotA: 2, dotB: 2, side: 4,
			sumSquares: func(x []float64) float64 { return dot(x, x) },
		}, routines[float64]{tileAVX2F64, gaussAVX2F64, expAVX2F64, productAVX2F64, packAVX2F64}, false, 1, nil),
		&vectors{
			dot: dot,
			axpy: func(alpha float64, x, y []float64) {
				axpyAVX2F64(len(x), alpha, unsafe.SliceData(x), unsafe.SliceData(y))
			},
			largest: func(x, y []float64) { largestAVX2F64(len(x), unsafe.SliceData(x), unsafe.SliceData(y)) },
		},
	}
}
