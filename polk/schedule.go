package polk

import (
	"fmt"
	"math"
)

// A Schedule gives the learning rate η_t of step t = 0, 1, 2, …
type Schedule interface {
	// Rate returns η_t. A saved learner keeps only t, so the rate must depend on nothing else.
	Rate(t int) float64

	// Validate reports rates that are not positive numbers below 1/λ, the
	// paper's condition η_t < 1/λ.
	Validate(regularizer float64) error
}

// Constant is η_t = η.
type Constant float64

// Rate returns η.
func (c Constant) Rate(int) float64 { return float64(c) }

// Validate reports η ≤ 0 and η ≥ 1/λ.
func (c Constant) Validate(regularizer float64) error { return validRate(float64(c), regularizer) }

// Inverse is the diminishing schedule η_t = Initial / (1 + t/Horizon), which
// is O(1/t) and satisfies Ση_t = ∞, Ση_t² < ∞ (eq. dim_stepsize).
type Inverse struct {
	Initial float64 // η₀
	Horizon float64 // steps after which the rate has halved
}

// Rate returns η₀/(1 + t/Horizon).
func (s Inverse) Rate(t int) float64 { return s.Initial / (1 + float64(t)/s.Horizon) }

// Validate reports η₀ ≤ 0, η₀ ≥ 1/λ and a horizon that is not positive.
func (s Inverse) Validate(regularizer float64) error {
	if !(s.Horizon > 0) {
		return fmt.Errorf("polk: horizon %v of the diminishing learning rate is not positive", s.Horizon)
	}
	return validRate(s.Initial, regularizer)
}

func validRate(rate, regularizer float64) error {
	if !(rate > 0) || math.IsInf(rate, 1) {
		return fmt.Errorf("polk: learning rate %v: must be positive and finite", rate)
	}
	if rate*regularizer >= 1 {
		return fmt.Errorf("polk: learning rate %v is not below 1/λ = %v", rate, 1/regularizer)
	}
	return nil
}

// A BudgetRule gives the approximation budget ε_t that goes with a learning
// rate η_t.
type BudgetRule interface {
	// Epsilon returns ε_t ≥ 0 for η_t.
	Epsilon(rate float64) float64

	// Validate reports invalid parameters.
	Validate() error
}

// Parsimony is ε = K·η^{3/2}, the rule of the constant-rate theorem
// (Theorem 2) and of all the paper's experiments.
type Parsimony float64

// Epsilon returns K·η^{3/2}.
func (k Parsimony) Epsilon(rate float64) float64 { return float64(k) * rate * math.Sqrt(rate) }

// Validate reports a K that is negative or not finite. K = 0 keeps every linearly independent
// element.
func (k Parsimony) Validate() error {
	if !(k >= 0) || math.IsInf(float64(k), 1) {
		return fmt.Errorf("polk: parsimony constant %v: must be finite and at least 0", float64(k))
	}
	return nil
}

// SquaredRate is ε_t = η_t², the rule of the diminishing-rate theorem
// (Theorem 1, eq. dim_stepsize).
type SquaredRate struct{}

// Epsilon returns η².
func (SquaredRate) Epsilon(rate float64) float64 { return rate * rate }

// Validate returns nil.
func (SquaredRate) Validate() error { return nil }
