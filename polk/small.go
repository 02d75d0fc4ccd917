package polk

import "math"

// cholesky factorizes the m×m matrix a (row-major, lower triangle read) in
// place into its lower factor. It is for the matrices of a mini-batch, which
// are positive definite up to rounding: a pivot that rounding has eaten is
// raised to 1e-15 of its diagonal element.
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

// forward solves L·x = b in place for the lower factor l, row stride m.
func forward(l []float64, m int, b []float64) {
	for i := range b {
		b[i] = (b[i] - dot(l[i*m:i*m+i], b[:i])) / l[i*m+i]
	}
}

// backward solves Lᵀ·x = b in place.
func backward(l []float64, m int, b []float64) {
	for i := len(b) - 1; i >= 0; i-- {
		s := b[i]
		for q := i + 1; q < len(b); q++ {
			s -= l[q*m+i] * b[q]
		}
		b[i] = s / l[i*m+i]
	}
}

// inverse writes (L·Lᵀ)⁻¹ to dst, m×m.
func inverse(dst, l []float64, m int, col []float64) {
	col = col[:m]
	for j := range m {
		clear(col)
		col[j] = 1
		forward(l, m, col)
		backward(l, m, col)
		for i := range m {
			dst[i*m+j] = col[i]
		}
	}
}

// grow returns b with length n, reallocated if its capacity is too small; the
// contents are not kept.
func grow[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n, n+n/2)
	}
	return b[:n]
}

func sumSquares(a []float64) float64 { return dot(a, a) }

func dot(a, b []float64) float64 {
	var s float64
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// axpy adds alpha·x to y.
func axpy(alpha float64, x, y []float64) {
	for i, v := range x {
		y[i] += alpha * v
	}
}

func scale(alpha float64, x []float64) {
	for i := range x {
		x[i] *= alpha
	}
}
