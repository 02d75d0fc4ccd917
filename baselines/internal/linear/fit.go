package linear

import (
	"context"
	"fmt"
	"math"

	"polkrepro/baselines/internal/dataset"
	"polkrepro/internal/gemm"
)

// A Result is a model with its certificate.
type Result struct {
	W              []float64 // C×P
	Objective, Gap float64   // P(W), and the certificate: P(W) − min P ≤ Gap
	Iterations     int
	Converged      bool // Gap ≤ Tolerance·Objective
}

// The smoothing of the hinge: μ to begin with, where it may end, and what
// divides it.
const (
	firstMu = 0.25
	leastMu = 1e-4
	muRatio = 4
)

// Fit fits n samples with p features: phi is n×p row-major, y holds class
// indices 0 … Classes−1. After each iteration it calls trace, unless that is
// nil, with the Result's figures so far, and fails with its error. Cancelling the
// context ends it with the context's error.
//
// It fails on a configuration or sizes that are not valid, features that are
// not finite numbers, and labels that are not classes.
func Fit(ctx context.Context, c Config, n, p int, phi []float32, y []float64, trace func(objective, gap float64) error) (*Result, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := dataset.Check(n, p, c.Classes, phi, y); err != nil {
		return nil, fmt.Errorf("linear: %w", err)
	}
	c = c.WithDefaults()
	f := &fit{Config: c, problem: newProblem(c, n, p, phi, y), trace: trace}
	f.result.W = make([]float64, c.Classes*p)
	if err := f.minimize(ctx); err != nil {
		return nil, err
	}
	return &f.result, nil
}

// A fit is a minimization under way.
type fit struct {
	Config
	problem *problem
	trace   func(objective, gap float64) error
	result  Result
	dual    dualPoint // of the best bound so far
}

// minimize takes L-BFGS steps until the gap is small, the iterations are used
// up, or float32 scores show no lower value.
func (f *fit) minimize(ctx context.Context) error {
	r, q := &f.result, f.problem
	var m pairs
	g := make([]float64, len(r.W))
	f.certify()
	for !r.Converged && r.Iterations < f.MaxIterations {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.lowerMu()
		q.gradientAt(g, r.W)
		to, gradient, ok := q.search(r.W, g, m.direction(g))
		if !ok && m != nil {
			m = nil         // they may be those of a larger μ, which mislead where the loss has a kink
			q.evaluate(r.W) // which lowerMu reads
			continue
		}
		if !ok {
			return nil
		}
		m = m.push(difference(to, r.W), difference(gradient, g))
		r.W, g = to, gradient
		r.Iterations++
		f.certify()
		if f.trace != nil {
			if err := f.trace(r.Objective, r.Gap); err != nil {
				return err
			}
		}
	}
	return nil
}

// certify computes objective and gap at the present W.
func (f *fit) certify() {
	r, q := &f.result, f.problem
	q.evaluate(r.W)
	f.dual.join(q.dual(), q.lambda)
	r.Objective = q.exact()
	r.Gap = r.Objective - f.dual.bound(q.lambda)
	r.Converged = r.Gap <= f.Tolerance*r.Objective
}

// lowerMu divides μ where most of the gap is due to it.
func (f *fit) lowerMu() {
	q := f.problem
	if q.smooth.margin == 0 || q.smooth.mu <= leastMu {
		return
	}
	// Minimization with this μ can still gain at most the residual, by strong convexity.
	// It can also gain at most the gap of the smoothed problem, whose objective is larger
	// than P by the difference of the losses and whose dual is larger by μ·entropy. While
	// this gain is more than half of the gap, a smaller μ would only make it harder to get.
	smoothing := float64(q.smooth.mu*f.dual.entropy) - (q.total.smooth - q.total.exact)
	if open := min(q.residual(), f.result.Gap-smoothing); open <= f.result.Gap-open {
		q.smooth.mu /= muRatio
	}
}

func difference(a, b []float64) []float64 {
	d := append([]float64(nil), a...)
	gemm.Axpy(-1, b, d)
	return d
}

func norm(v []float64) float64 { return math.Sqrt(gemm.Dot(v, v)) }
