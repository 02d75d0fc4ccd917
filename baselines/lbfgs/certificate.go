package lbfgs

import (
	"context"
	"fmt"
	"slices"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
)

// certify evaluates the objective at f and the bound at ū in float64.
func (s *solver) certify(ctx context.Context, x []float32) (*Result, error) {
	best, dual := s.expand()
	size := len(best.w)
	// Both functions in one product: where K is not in float64 already, it is computed
	// afresh, which is most of the work.
	v, kv := make([]float64, 2*size), make([]float64, 2*size)
	copy(v, best.w)
	copy(v[size:], dual)
	n := s.all.n
	evals := int64(n) * int64(n)
	if k, ok := s.all.gram.(*matrix[float64]); ok {
		gemm.MulABT(len(v)/n, n, n, 1, v, n, k.k, n, 0, kv, n, s.config.Threads)
	} else {
		if err := exactMul(ctx, kv, v, s.config.Kernel, s.points, x, s.config.Threads); err != nil {
			return nil, fmt.Errorf("lbfgs: certificate: %w", err)
		}
		evals *= 2
	}
	f, u := element{v[:size], kv[:size]}, element{v[size:], kv[size:]}
	total := s.total
	sums := s.all.sum(func(lo, hi int) totals { return s.exactSums(f, u, lo, hi) })
	objective := sums.exact/total + float64(s.lambda/2*s.inner(f, f))
	lower := -sums.conjugate/total - s.bound.energy(u.w, u)
	gap := max(0, objective-lower)
	return &Result{
		Expansion: compact(s.expansion(best.w)),
		Objective: objective, Gap: gap, Converged: gap <= s.config.Tolerance*objective,
		GradientNorm: s.now.slope, Smoothing: s.mu,
		Iterations: s.iterations, Products: s.products,
		KernelEvals: evals,
	}, nil
}

// exactSums adds up ℓ at f and ℓ* at u for the samples lo … hi−1.
func (s *solver) exactSums(f, u element, lo, hi int) totals {
	var t totals
	row := make([]float64, s.outputs)
	for i := lo; i < hi; i++ {
		s.all.column(row, f.kw, i)
		t.exact += s.Value(row, s.all.y[i])
		s.all.column(row, u.w, i)
		t.conjugate += s.conjugate(row, int(s.all.y[i]))
	}
	return t
}

// compact returns e without the elements whose weights are all 0: e itself if
// there are none.
func compact(e *kernel.Expansion) *kernel.Expansion {
	var keep []int
	for j := range e.Order() {
		if slices.ContainsFunc(e.Weights(j), func(w float64) bool { return w != 0 }) {
			keep = append(keep, j)
		}
	}
	if len(keep) == e.Order() {
		return e
	}
	out := kernel.NewExpansion(e.Kernel, e.Dict.Dim(), e.Outputs)
	for _, j := range keep {
		out.Append(e.Dict.At(j), e.Weights(j))
	}
	return out
}
