// Package linear fits multi-class linear models on explicit features, for the
// feature maps of packages nystrom and rff: min over W, C×P, of
//
//	P(W) = (1/N) Σ_i ℓ(Wφ_i, y_i) + (λ/2) ‖W‖²
//
// with the multi-class hinge or the multinomial logistic loss.
//
// Both are fitted by L-BFGS on the whole training set: it has no learning rate
// to tune, which stochastic gradients would leave as a choice that decides the
// comparison, and its end is certified by a duality gap. The hinge, which has
// kinks, is replaced by
//
//	ℓ_μ(f, y) = μ log Σ_c exp((f_c − f_y + [c ≠ y])/μ),   ℓ ≤ ℓ_μ ≤ ℓ + μ log C,
//
// and μ is divided by 4 whenever it is what keeps the gap open. With μ = 1 and
// without the bracket this is the logistic loss.
//
// The gradients u_i of ℓ_μ by the scores are feasible in the dual of the exact
// problem, for every μ and at every W: with p_i = u_i + e_{y_i}, a vector of
// probabilities,
//
//	P* ≥ (1/N) Σ_i h(p_i) − ‖(1/N) Σ_i u_i φ_iᵀ‖² / (2λ),
//
// where h(p) is 1 − p_y for the hinge (K. Crammer, Y. Singer, JMLR 2 (2001))
// and the entropy −Σ p log p for the logistic loss. The right side is the dual
// objective, which is concave. At a single iterate it is far below the minimum as long
// as ‖∇P‖² is above the small λ. So Fit keeps a point of the dual, moves it after each
// iteration towards the iterate's, as far as the dual objective rises, and takes the
// bound there, as the Frank–Wolfe method does (S. Lacoste-Julien et al.,
// "Block-coordinate Frank-Wolfe optimization for structural SVMs", ICML 2013). The gap
// is P(W) less that bound.
package linear

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"polkrepro/loss"
)

const (
	defaultTolerance  = 1e-2
	defaultIterations = 500
)

// A Config says what Fit minimizes and how well.
type Config struct {
	Loss          loss.Loss // loss.MultiHinge or loss.MultiLogistic
	Classes       int       // C ≥ 2
	Regularizer   float64   // λ > 0
	Tolerance     float64   // Fit ends at gap ≤ Tolerance·objective; 0 means 0.01
	MaxIterations int       // Fit ends there, converged or not; 0 means 500
	Threads       int       // goroutines; 0 means 1
}

// Validate returns every reason why c describes no problem.
func (c Config) Validate() error {
	var errs []error
	fail := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("linear: "+format, args...))
		}
	}
	fail(c.Classes < 2, "%d classes: at least 2 are needed", c.Classes)
	fail(!(c.Regularizer > 0) || math.IsInf(c.Regularizer, 1), "regularizer %v is not a number > 0", c.Regularizer)
	fail(!(c.Tolerance >= 0) || c.Tolerance >= 1, "tolerance %v is not in [0, 1)", c.Tolerance)
	fail(c.MaxIterations < 0, "%d iterations", c.MaxIterations)
	fail(c.Threads < 0, "%d threads", c.Threads)
	switch c.Loss.(type) {
	case loss.MultiHinge, loss.MultiLogistic:
	default:
		errs = append(errs, errors.New("linear: the loss is neither the multi-class hinge nor the multinomial logistic one"))
	}
	return errors.Join(errs...)
}

// WithDefaults fills in what 0 stands for.
func (c Config) WithDefaults() Config {
	c.Tolerance = cmp.Or(c.Tolerance, defaultTolerance)
	c.MaxIterations = cmp.Or(c.MaxIterations, defaultIterations)
	c.Threads = max(c.Threads, 1)
	return c
}
