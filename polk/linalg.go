package polk

import (
	"math"
	"slices"

	"polkrepro/internal/gemm"
)

// cholesky factorizes the m×m matrix a (row-major, lower triangle read) in place into its lower
// factor. It is for the matrices of a mini-batch, which are positive definite up to rounding: a
// squared pivot lost to rounding is raised to 1e-15 of its diagonal element.
func cholesky(a []float64, m int) {
	for j := range m {
		row := a[j*m : j*m+j]
		d := math.Sqrt(max(a[j*m+j]-sumSquares(row), 1e-15*a[j*m+j]))
		a[j*m+j] = d
		for i := j + 1; i < m; i++ {
			a[i*m+j] = (a[i*m+j] - dot(a[i*m:i*m+j], row)) / d
		}
	}
}

// backward solves Lᵀ·x = b in place.
func backward(l []float64, m int, b []float64) {
	for i := len(b) - 1; i >= 0; i-- {
		s := b[i]
		for q := i + 1; q < len(b); q++ {
			s -= float64(l[q*m+i] * b[q])
		}
		b[i] = s / l[i*m+i]
	}
}

// inverseLower writes L⁻¹, m×m, to dst for the lower factor l. The upper
// triangle of dst is zero.
func inverseLower(dst, l []float64, m int) {
	clear(dst)
	for i := range m {
		row := dst[i*m : i*m+i+1]
		row[i] = 1
		for q, v := range l[i*m : i*m+i] {
			axpy(-v, dst[q*m:q*m+q+1], row[:q+1])
		}
		scale(1/l[i*m+i], row)
	}
}

// extend returns b with n more elements, whose values are undefined.
func extend[T any](b []T, n int) []T { return slices.Grow(b, n)[:len(b)+n] }

// grow returns b with length n, reallocated if its capacity is too small; the
// contents are not kept.
func grow[T any](b []T, n int) []T { return slices.Grow(b[:0], n)[:n] }

func sumSquares(a []float64) float64 { return dot(a, a) }

// short is the length below which a call to a vector routine costs more than
// a plain loop.
const short = 16

func dot(a, b []float64) float64 {
	if len(a) >= short {
		return gemm.Dot(a, b)
	}
	var s float64
	for i, v := range a {
		s += float64(v * b[i])
	}
	return s
}

// axpy adds alpha·x to y.
func axpy(alpha float64, x, y []float64) {
	if len(x) >= short {
		gemm.Axpy(alpha, x, y)
		return
	}
	for i, v := range x {
		y[i] += float64(alpha * v)
	}
}

func scale(alpha float64, x []float64) {
	for i := range x {
		x[i] *= alpha
	}
}

// normSq returns ‖x‖², up to rounding. It uses four sums, because with a single one each
// addition would wait for the previous one.
func normSq(x []float32) float64 {
	var s [4]float64
	for len(x) >= 4 {
		for i, v := range x[:4] {
			s[i] += float64(float64(v) * float64(v))
		}
		x = x[4:]
	}
	for _, v := range x {
		s[0] += float64(float64(v) * float64(v))
	}
	return s[0] + s[1] + s[2] + s[3]
}
