package lbfgs

import (
	"context"
	"fmt"
	"math"

	"polkrepro/internal/dataset"
	"polkrepro/kernel"
)

const (
	// μ is divided by smoothingFactor once the gap is at most biasRatio times
	// the part of it that μ causes. On multidist, factors from 2 to 10 and
	// ratios from 1.5 to 6 differ by less than 40 % in iterations.
	smoothingFactor = 4
	biasRatio       = 2

	// smallestSmoothing is the μ at which the hinge and its envelope can no longer be told apart.
	smallestSmoothing = 1e-12

	// gradientRoundoff is the norm, relative to that of λf, at which the gradient counts as 0.
	// This adds 1e-14 of the objective to the gap. Below it, rounding would cause steps whose
	// weights and images disagree.
	gradientRoundoff = 1e-7
)

// A Result is a minimizer with its certificate.
type Result struct {
	// Expansion is f, on the points with a nonzero weight. At the start, f = 0, all samples
	// violate the margin, and because of rounding no weight returns to exactly 0: the model order
	// is N, as in the paper.
	Expansion *kernel.Expansion

	Objective    float64 // P(f), evaluated in float64
	Gap          float64 // at least P(f) − min P, evaluated in float64
	Converged    bool    // Gap ≤ Tolerance·Objective
	GradientNorm float64 // of the smoothed objective, in the Hilbert space, to the precision of the iterations
	Smoothing    float64 // the last μ; 0 for a smooth loss
	Iterations   int     // of L-BFGS, all smoothings together
	Products     int64   // products with the kernel matrix, or with its part of some samples
	KernelEvals  int64   // values of κ: N², and as many for the certificate where K is in float32
}

// Train minimizes the objective over the expansions on n samples: x is n×Dim
// row-major, y holds class indices 0 … C−1. c.Trace gets P(f) and its gap up to the
// rounding of the iterations. The result does not depend on Threads.
//
// The kernel matrix takes 4N² bytes, or 8N² up to N = 8,192. An iteration reads it once. With the
// hinge and N ≥ 4,096, most iterations read only the rows and columns of some samples, a copy of
// at most a sixth of the matrix. The objective and gap that Trace gets then omit the loss at the
// other samples.
//
// Train fails if the configuration is invalid or does not fit the samples, if kernel values
// overflow, if Trace fails, or if the context ends. It does not fail if the iterations run out,
// or rounding leaves no further step, before Tolerance is met: see Result.Converged.
func Train(ctx context.Context, c Config, n int, x []float32, y []float64) (*Result, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	if err := dataset.Check(n, c.Dim, c.Classes, x, y); err != nil {
		return nil, fmt.Errorf("lbfgs: %w", err)
	}
	s, err := newSolver(ctx, c, n, x, y)
	if err != nil {
		return nil, err
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	return s.certify(ctx, x)
}

// A solver is a run of L-BFGS.
type solver struct {
	*problem            // of the samples that are not set aside
	all        *problem // of all samples
	selection  selection
	config     Config
	points     *kernel.Points
	pairs      *memory
	bound      *bound
	now, next  *iterate
	direction  element
	iterations int
}

// newSolver evaluates the kernel matrix, and the objective at f = 0.
func newSolver(ctx context.Context, c Config, n int, x []float32, y []float64) (*solver, error) {
	l, _ := newDualLoss(c.Loss) // Validate has checked the loss
	points := kernel.NewPoints(c.Dim)
	k, err := newGram(ctx, c, n, x, points)
	if err != nil {
		return nil, fmt.Errorf("lbfgs: kernel matrix: %w", err)
	}
	p := &problem{
		vectors: vectors{threads: c.Threads}, dualLoss: l, n: n, total: float64(n), outputs: c.Classes,
		lambda: c.Regularizer, mu: l.smoothing(), y: y, gram: k,
	}
	size := n * c.Classes
	s := &solver{
		problem: p, all: p, selection: selection{whole: true}, config: c, points: points,
		pairs: &memory{vectors: p.vectors, size: c.Memory},
		bound: &bound{problem: p},
		now:   newIterate(size), next: newIterate(size), direction: newElement(size),
	}
	s.evaluate(s.now)
	s.bound.set(s.now.dual)
	return s, s.now.check()
}

// check fails if the objective or the gradient is not finite.
func (x *iterate) check() error {
	if s := x.objective + x.slope; math.IsNaN(s) || math.IsInf(s, 0) {
		return fmt.Errorf("lbfgs: the objective is %v, its gradient's norm %v: kernel values overflow", x.objective, x.slope)
	}
	return nil
}

// gap returns an upper bound of P(f) − min P.
func (s *solver) gap() float64 { return max(0, s.now.objective-s.bound.value()) }

// run iterates until the gap is met, the iterations are used up, or no step lowers the objective.
func (s *solver) run(ctx context.Context) error {
	for s.iterations < s.config.MaxIterations {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("lbfgs: after %d iterations: %w", s.iterations, err)
		}
		met := s.gap() <= s.config.Tolerance*s.now.objective
		if met && s.selection.whole {
			return nil
		}
		if s.mu > 0 && s.gap() <= biasRatio*s.now.bias {
			s.sharpen()
		}
		if s.config.selects(s.all.n) && (met || s.due()) {
			s.reconsider(met)
			if met {
				continue
			}
		}
		if !s.step() {
			if s.selection.whole {
				return nil
			}
			s.reconsider(true)
			continue
		}
		s.selection.whole = s.selection.samples == nil
		if err := s.now.check(); err != nil {
			return err
		}
		s.iterations++
		if s.config.Trace == nil {
			continue
		}
		if err := s.config.Trace(s.now.objective, s.gap()); err != nil {
			return err
		}
	}
	return nil
}

// sharpen divides μ. It drops the correction pairs, which belong to the function with the old μ.
func (s *solver) sharpen() {
	s.mu /= smoothingFactor
	s.pairs.forget()
	s.evaluate(s.now)
	s.bound.join(s.now)
}

// step takes an iteration. It reports false if rounding leaves no step that lowers the objective,
// neither along the gradient nor with a smaller μ.
func (s *solver) step() bool {
	t := s.search()
	for ; t == 0; t = s.search() {
		switch {
		case len(s.pairs.pairs) > 0:
			s.pairs.forget()
		case s.mu > smallestSmoothing:
			s.sharpen()
		default:
			return false
		}
	}
	s.mix(s.next.f, 1, s.now.f, t, s.direction)
	s.evaluate(s.next)
	p := s.pairs.take(len(s.now.f.w))
	s.scale(p.s, t, s.direction)
	s.mix(p.y, 1, s.next.gradient, -1, s.now.gradient)
	s.pairs.push(p)
	s.now, s.next = s.next, s.now
	s.bound.join(s.now)
	return true
}

// search sets the direction and returns the step to take, or 0 if there is none.
func (s *solver) search() float64 {
	if s.now.slope <= gradientRoundoff*s.lambda*math.Sqrt(s.now.normSq) {
		return 0
	}
	s.pairs.direction(s.direction, s.now.gradient)
	return s.lineFrom(s.now, s.direction).search()
}
