package ivm

import (
	"errors"
	"slices"

	"polkrepro/internal/factor"
	"polkrepro/internal/gemm"
)

// A newton is the Newton equation over the import points. Its unknown a·q+t is
// the change of contrast a's coefficient of basis vector t.
type newton struct {
	lower    matrix    // L with LLᵀ the Hessian, D·q×D·q
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
	if !factor.Cholesky(e.lower, s.Threads) {
		return nil, errNotDefinite
	}
	// L⁻¹·gradient is kept, and not only L⁻ᵀ·L⁻¹·gradient, because a candidate borders L by one
	// row per contrast and continues the solve from L⁻¹·gradient.
	e.reduced = slices.Clone(e.gradient)
	factor.SolveLower(e.lower, gemm.RowOf(e.reduced), 1)
	return e, nil
}

// direction returns the Newton step over the import points, q×D.
func (e *newton) direction(q, d int) matrix {
	v := slices.Clone(e.reduced)
	factor.SolveLowerT(e.lower, gemm.RowOf(v), 1)
	dir := gemm.NewMatrix[float64](q, d)
	for a := range d {
		for t, change := range v[a*q : (a+1)*q] {
			dir.Set(t, a, -change)
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
