package polk

import "math"

// A Schedule gives the learning rate η_t of step t = 0, 1, 2, …, of a Learner and of the learners of
// other packages. It must be positive and below 1/λ, the paper's condition; a step with another rate
// is an error.
type Schedule interface {
	// Rate returns η_t. A saved learner keeps only t, so the rate must depend on nothing else.
	Rate(t int) float64
}

// Constant is η_t = η.
type Constant float64

// Rate returns η.
func (c Constant) Rate(int) float64 { return float64(c) }

// InverseTime is the diminishing schedule η_t = Initial / (1 + t/Horizon), which
// is O(1/t) and satisfies Ση_t = ∞, Ση_t² < ∞ (eq. dim_stepsize).
type InverseTime struct {
	Initial float64 // η₀
	Horizon float64 // steps after which the rate has halved
}

// Rate returns η₀/(1 + t/Horizon), or NaN, which is no valid rate, unless the horizon is positive.
func (s InverseTime) Rate(t int) float64 {
	if !(s.Horizon > 0) {
		return math.NaN()
	}
	return s.Initial / (1 + float64(t)/s.Horizon)
}

// A BudgetRule gives the approximation budget ε_t that goes with a learning
// rate η_t.
type BudgetRule interface {
	// Epsilon returns ε_t ≥ 0 for η_t.
	Epsilon(rate float64) float64
}

// Parsimony is ε = K·η^{3/2}, the rule of the constant-rate theorem
// (Theorem 2) and of all the paper's experiments. K = 0 keeps every linearly independent element.
type Parsimony float64

// Epsilon returns K·η^{3/2}.
func (k Parsimony) Epsilon(rate float64) float64 { return float64(k) * rate * math.Sqrt(rate) }

// SquaredRate is ε_t = η_t², the rule of the diminishing-rate theorem
// (Theorem 1, eq. dim_stepsize).
type SquaredRate struct{}

// Epsilon returns η².
func (SquaredRate) Epsilon(rate float64) float64 { return rate * rate }
