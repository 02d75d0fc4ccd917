package ivm

import (
	"errors"

	"polkrepro/internal/factor"
)

// A newton is the Newton equation over the import points. Its unknown a·q+t is
// the change of contrast a's coefficient of basis vector t.
type newton struct {
	lower    []float64 // L with LLᵀ the Hessian, D·q×D·q
	gradient []float64 // D·q
	reduced  []float64 // L⁻¹·gradient
}

var errNotDefinite = errors.New("ivm: the Hessian is not positive definite in floating point: the regularizer is too small for the kernel's values")

// newton sets up the equation at the present f.
func (s *state) newton() (*newton, error) {
	size := s.dims() * s.order()
	e := &newton{gradient: s.spanGradient()}
	if size == 0 {
		return e, nil
	}
	e.lower = s.curvature.hessian()
	if !factor.Cholesky(size, e.lower, size, s.Threads) {
		return nil, errNotDefinite
	}
	// L⁻¹·gradient is kept, and not only L⁻ᵀ·L⁻¹·gradient, because a candidate borders L by one
	// row per contrast and continues the solve from L⁻¹·gradient.
	e.reduced = append([]float64(nil), e.gradient...)
	factor.SolveLower(1, size, e.lower, size, e.reduced, size, 1)
	return e, nil
}

// direction returns the Newton step over the import points, q×D.
func (e *newton) direction(q, d int) []float64 {
	size := q * d
	v := append([]float64(nil), e.reduced...)
	factor.SolveLowerT(1, size, e.lower, size, v, size, 1)
	dir := make([]float64, q*d)
	for t := range q {
		for a := range d {
			dir[t*d+a] = -v[a*q+t]
		}
	}
	return dir
}

// pairAt returns pair number i of (0, 0), (0, 1), …, (1, 1), … below d.
func pairAt(d, i int) (a, b int) {
	for i >= d-a {
		i -= d - a
		a++
	}
	return a, a + i
}
