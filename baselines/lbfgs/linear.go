package lbfgs

import (
	"context"
	"fmt"
	"slices"

	"polkrepro/internal/dataset"
	"polkrepro/internal/gemm"
)

// Linear is a linear model W, C×P, of explicit features φ, fitted by L-BFGS with the Euclidean
// inner product to minimize
//
//	P(W) = (1/N) Σ_i ℓ(Wφ_i, y_i) + (λ/2) ‖W‖².
//
// The method has no learning rate to tune; with stochastic gradients, the choice of the rate
// would decide the comparison. The result is certified. The hinge is replaced by
//
//	ℓ_μ(f, y) = μ log Σ_c exp((f_c − f_y + [c ≠ y])/μ),   ℓ ≤ ℓ_μ ≤ ℓ + μ log C,
//
// and μ is divided by 4 whenever it causes most of the gap. With μ = 1 and without the bracket
// this is the logistic loss.
//
// The gradients u_i of ℓ_μ with respect to the scores are feasible in the dual of the exact
// problem, for every μ and at every W: with p_i = u_i + e_{y_i}, a vector of probabilities,
//
//	P* ≥ (1/N) Σ_i h(p_i) − ‖(1/N) Σ_i u_i φ_iᵀ‖² / (2λ),
//
// where h(p) is 1 − p_y for the hinge (K. Crammer, Y. Singer, JMLR 2 (2001)) and the entropy
// −Σ p log p for the logistic loss. The right side is the dual objective, which is concave. At a
// single iterate it is far below the minimum as long as ‖∇P‖² is above the small λ. So
// TrainLinear keeps a dual point. After each iteration it moves this point towards the iterate's
// dual point, as far as the dual objective rises, and takes the bound there, as the Frank–Wolfe
// method does (S. Lacoste-Julien et al., "Block-coordinate Frank-Wolfe optimization for
// structural SVMs", ICML 2013). The gap is P(W) less that bound.
type Linear struct {
	W              []float64 // C×P
	Objective, Gap float64   // P(W), and the certificate: P(W) − min P ≤ Gap
	Iterations     int
	Converged      bool // Gap ≤ Tolerance·Objective
}

const (
	// The smoothing of the hinge: the initial μ, the μ at which division stops, and the divisor.
	linearMu      = 0.25
	leastLinearMu = 1e-4
	linearMuRatio = 4

	// linearTrials is the largest number of steps of a line search: at smaller steps, float32
	// scores show no lower value.
	linearTrials = 30
)

// TrainLinear fits n samples with p features: phi is n×p row-major, y holds class indices
// 0 … Classes−1. It uses all fields of c except Kernel and Dim, which describe the points from
// which the features are computed. After each iteration it calls c.Trace, unless nil, with the
// current objective and gap; if Trace fails, TrainLinear returns its error. Cancelling the
// context ends training with the context's error.
//
// It fails on an invalid configuration, invalid sizes, features that are not finite, and labels
// that are not classes.
func TrainLinear(ctx context.Context, c Config, n, p int, phi []float32, y []float64) (*Linear, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := dataset.Check(n, p, c.Classes, phi, y); err != nil {
		return nil, fmt.Errorf("lbfgs: %w", err)
	}
	c = c.withDefaults()
	f := &linearFit{Config: c, problem: newLinearProblem(c, n, p, phi, y)}
	f.result.W = make([]float64, c.Classes*p)
	if err := f.minimize(ctx); err != nil {
		return nil, err
	}
	return &f.result, nil
}

// A linearFit is a minimization in progress.
type linearFit struct {
	Config
	problem *linearProblem
	result  Linear
	dual    dualPoint // dual point of the best bound so far
}

// minimize takes L-BFGS steps until the gap is small, the iterations are used
// up, or float32 scores show no lower value.
func (f *linearFit) minimize(ctx context.Context) error {
	r, q := &f.result, f.problem
	size := len(r.W)
	m := memory{vectors: vectors{whole: true}, size: f.Memory, plain: true}
	g, next, gradient, d := make([]float64, size), make([]float64, size), make([]float64, size), make([]float64, size)
	f.certify()
	for !r.Converged && r.Iterations < f.MaxIterations {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.lowerMu()
		q.gradientAt(g, r.W)
		m.direction(element{w: d}, element{w: g})
		if len(m.pairs) == 0 { // a step of norm 1 at most
			m.combine(d, 1/max(1, norm(g)), d, 0, d)
		}
		step, _ := bisect(q.value(r.W), gemm.Dot(g, d), linearTrials, func(t float64) (value, slope float64) {
			copy(next, r.W)
			gemm.Axpy(t, d, next)
			q.gradientAt(gradient, next)
			return q.value(next), gemm.Dot(gradient, d)
		})
		if step == 0 && len(m.pairs) > 0 {
			m.forget()      // pairs of a larger μ mislead where the loss has a kink
			q.evaluate(r.W) // lowerMu reads this evaluation
			continue
		}
		if step == 0 {
			return nil
		}
		p := m.take(size)
		m.combine(p.s.w, 1, next, -1, r.W)
		m.combine(p.y.w, 1, gradient, -1, g)
		m.push(p)
		r.W, next = next, r.W
		r.Iterations++
		f.certify()
		if f.Trace != nil {
			if err := f.Trace(r.Objective, r.Gap); err != nil {
				return err
			}
		}
	}
	return nil
}

// certify computes objective and gap at the present W.
func (f *linearFit) certify() {
	r, q := &f.result, f.problem
	q.evaluate(r.W)
	f.dual.join(q.dual(), q.lambda)
	r.Objective = q.exact()
	r.Gap = r.Objective - f.dual.bound(q.lambda)
	r.Converged = r.Gap <= f.Tolerance*r.Objective
}

// lowerMu divides μ if it causes most of the gap.
func (f *linearFit) lowerMu() {
	q := f.problem
	if q.smooth.margin == 0 || q.smooth.mu <= leastLinearMu {
		return
	}
	// Further minimization with this μ can gain at most the residual, by strong convexity. It can
	// also gain at most the gap of the smoothed problem, whose objective is larger than P by the
	// difference of the losses and whose dual is larger by μ·entropy. While this gain is more
	// than half of the gap, a smaller μ would only make the gain harder to reach.
	smoothing := float64(q.smooth.mu*f.dual.entropy) - (q.total.smooth - q.total.exact)
	if open := min(q.residual(), f.result.Gap-smoothing); open <= f.result.Gap-open {
		q.smooth.mu /= linearMuRatio
	}
}

// A dualPoint is a feasible point of the dual, the gradients u_i, represented by the sums that
// its bound needs. p_i = u_i + e_{y_i}.
type dualPoint struct {
	gradient []float64 // C×P, (1/N) Σ u_i φ_iᵀ
	value    float64   // at most (1/N) Σ h(p_i)
	entropy  float64   // at most (1/N) Σ_i −Σ_c p_ic log p_ic
}

// bound returns the lower bound of min P.
func (d *dualPoint) bound(lambda float64) float64 {
	return d.value - gemm.Dot(d.gradient, d.gradient)/(2*lambda)
}

// join moves d to the point between itself and e where the bound is largest. If d has no gradient
// yet, it becomes e.
func (d *dualPoint) join(e dualPoint, lambda float64) {
	if d.gradient == nil {
		*d = e
		d.gradient = slices.Clone(e.gradient)
		return
	}
	// The dual's domain is convex, and h and the entropy are concave: at (1−t)·d + t·e they are
	// at least the linear interpolation of their values at d and e. With s the difference of the
	// gradients the bound is value + t·(e.value − value) − ‖gradient + t·s‖²/(2λ), a parabola in
	// t.
	s := slices.Clone(e.gradient)
	gemm.Axpy(-1, d.gradient, s)
	square := gemm.Dot(s, s)
	if square == 0 {
		return
	}
	rise := e.value - d.value
	t := (float64(lambda*rise) - gemm.Dot(d.gradient, s)) / square
	t = max(0, min(t, 1))
	gemm.Axpy(t, s, d.gradient)
	d.value += float64(t * rise)
	d.entropy += float64(t * (e.entropy - d.entropy))
}
