package polk

import (
	"math"
	"slices"

	"polkrepro/internal/gemm"
)

// A matrix is a view of float64 elements.
type matrix = gemm.Matrix[float64]

// cholesky factorizes a symmetric matrix, of which it reads the lower triangle, in place into its
// lower factor. It is for the matrices of a mini-batch, which are positive definite up to rounding:
// a squared pivot lost to rounding is raised to 1e-15 of its diagonal element. Once ended reports
// true, the factor is not completed.
func cholesky(a matrix, ended func() bool) {
	for j := range a.Len() {
		if ended() {
			return
		}
		row := a.Row(j)[:j]
		square := a.At(j, j)
		d := math.Sqrt(max(square-sumSquares(row), 1e-15*square))
		a.Set(j, j, d)
		for i := j + 1; i < a.Len(); i++ {
			below := a.Row(i)
			below[j] = (below[j] - gemm.Dot(below[:j], row)) / d
		}
	}
}

// grow returns b with length n, reallocated if its capacity is too small; the
// contents are not kept.
func grow[T any](b []T, n int) []T { return slices.Grow(b[:0], n)[:n] }

// resized returns b with length n: its first elements, and zeros beyond them.
func resized[T any](b []T, n int) []T {
	return append(b[:min(len(b), n)], make([]T, max(n-len(b), 0))...)
}

func sumSquares(a []float64) float64 { return gemm.Dot(a, a) }

func scale(alpha float64, x []float64) {
	for i := range x {
		x[i] *= alpha
	}
}
