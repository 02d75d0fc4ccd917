package lbfgs

import (
	"context"
	"fmt"

	"polkrepro/kernel"
)

// certify evaluates the objective at f and the bound at ū in float64.
func (s *solver) certify(ctx context.Context, x []float32) (*Result, error) {
	size := len(s.now.f.w)
	// Both functions in one product: K is computed afresh in float64, which is most
	// of the work.
	v, kv := make([]float64, 2*size), make([]float64, 2*size)
	copy(v, s.now.f.w)
	copy(v[size:], s.bound.u.w)
	if err := exactMul(ctx, kv, v, s.config.Kernel, s.points, x, s.config.Threads); err != nil {
		return nil, fmt.Errorf("lbfgs: certificate: %w", err)
	}
	f, u := element{v[:size], kv[:size]}, element{v[size:], kv[size:]}
	n := float64(s.n)
	sums := s.sum(func(lo, hi int) totals { return s.exactSums(f, u, lo, hi) })
	objective := sums.exact/n + float64(s.lambda/2*s.inner(f, f))
	lower := -sums.conjugate/n - s.bound.energy(u, u)
	_, bytes := s.config.bytes(s.n)
	gap := max(0, objective-lower)
	return &Result{
		Expansion: compact(s.expansion()),
		Objective: objective, Gap: gap, Converged: gap <= s.config.Tolerance*objective,
		GradientNorm: s.now.slope, Smoothing: s.mu,
		Iterations: s.iterations, Products: s.products,
		KernelEvals: 2 * int64(s.n) * int64(s.n), Bytes: bytes,
	}, nil
}

// exactSums adds up ℓ at f and ℓ* at u for the samples lo … hi−1.
func (s *solver) exactSums(f, u element, lo, hi int) totals {
	var t totals
	row := make([]float64, s.outputs)
	for i := lo; i < hi; i++ {
		s.column(row, f.kw, i)
		t.exact += s.Value(row, s.y[i])
		s.column(row, u.w, i)
		t.conjugate += s.conjugate(row, int(s.y[i]))
	}
	return t
}

// compact returns e without the elements whose weights are all 0: e itself if
// there are none.
func compact(e *kernel.Expansion) *kernel.Expansion {
	out := kernel.NewExpansion(e.Kernel, e.Dict.Dim(), e.Outputs)
	var keep []int
	for j := range e.Order() {
		if nonzero(e.Weights(j)) {
			keep = append(keep, j)
		}
	}
	if len(keep) == e.Order() {
		return e
	}
	for _, j := range keep {
		out.Append(e.Dict.At(j), e.Weights(j))
	}
	return out
}

func nonzero(w []float64) bool {
	for _, v := range w {
		if v != 0 {
			return true
		}
	}
	return false
}
