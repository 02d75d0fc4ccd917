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
	// Both functions go through one product: if K is not stored in float64, it is computed again,
	// which is most of the work.
	n, size := s.all.n, len(dual)
	v := gemm.MatrixOf(2*s.outputs, n, slices.Concat(best.w, dual))
	kv := gemm.NewMatrix[float64](2*s.outputs, n)
	evals := int64(n) * int64(n)
	if k, ok := s.all.gram.(*matrix[float64]); ok {
		gemm.MulABT(1, v, k.k, 0, kv, s.config.Threads)
	} else {
		if err := exactMul(ctx, kv, v, s.config.Kernel, s.points, x, s.config.Threads); err != nil {
			return nil, fmt.Errorf("lbfgs: certificate: %w", err)
		}
		evals *= 2
	}
	w, values := v.Data(), kv.Data()
	f, u := element{w[:size], values[:size]}, element{w[size:], values[size:]}
	total := s.total
	sums := s.all.exactSums(f.kw, u.w)
	objective := sums.exact/total + float64(s.lambda/2*s.inner(f, f))
	lower := -sums.conjugate/total - s.bound.energy(u.w, u)
	gap := max(0, objective-lower)
	return &Result{
		Expansion: s.expansion(best.w),
		Objective: objective, Gap: gap, Converged: gap <= s.config.Tolerance*objective,
		GradientNorm: s.now.slope, Smoothing: s.mu,
		Iterations: s.iterations, Products: s.products,
		KernelEvals: evals,
	}, nil
}

// expansion returns the function with the weights f, on the points whose weights are not all 0.
// If these are all points, it does not copy them.
func (s *solver) expansion(f []float64) *kernel.Expansion {
	e := &kernel.Expansion{Kernel: s.config.Kernel, Dict: s.points, Outputs: s.outputs, W: make([]float64, len(f))}
	var keep []int
	for i := range s.all.n {
		s.all.column(e.Weights(i), f, i)
		if slices.ContainsFunc(e.Weights(i), func(w float64) bool { return w != 0 }) {
			keep = append(keep, i)
		}
	}
	if len(keep) == e.Order() {
		return e
	}
	out := kernel.NewExpansion(e.Kernel, e.Dict.Dim(), e.Outputs)
	for _, i := range keep {
		out.Append(e.Dict.At(i), e.Weights(i))
	}
	return out
}
