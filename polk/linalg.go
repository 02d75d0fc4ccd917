package polk

import (
	"math"
	"slices"

	"polkrepro/internal/gemm"
)

// cholesky factorizes the m×m matrix a (row-major, lower triangle read) in place into its lower
// factor. It is for the matrices of a mini-batch, which are positive definite up to rounding: a
// squared pivot lost to rounding is raised to 1e-15 of its diagonal element. Once ended reports
// true, the factor is not completed.
func cholesky(a []float64, m int, ended func() bool) {
	for j := range m {
		if ended() {
			return
		}
		row := a[j*m : j*m+j]
		d := math.Sqrt(max(a[j*m+j]-sumSquares(row), 1e-15*a[j*m+j]))
		a[j*m+j] = d
		for i := j + 1; i < m; i++ {
			a[i*m+j] = (a[i*m+j] - gemm.Dot(a[i*m:i*m+j], row)) / d
		}
	}
}

// A matrix is a view of float64 elements.
type matrix = gemm.Matrix[float64]

// of returns elements as a matrix without gaps.
func of(rows, cols int, data []float64) matrix { return gemm.MatrixOf(rows, cols, data) }

// extend returns b with n more elements, whose values are undefined.
func extend[T any](b []T, n int) []T { return slices.Grow(b, n)[:len(b)+n] }

// grow returns b with length n, reallocated if its capacity is too small; the
// contents are not kept.
func grow[T any](b []T, n int) []T { return slices.Grow(b[:0], n)[:n] }

func sumSquares(a []float64) float64 { return gemm.Dot(a, a) }

func scale(alpha float64, x []float64) {
	for i := range x {
		x[i] *= alpha
	}
}
