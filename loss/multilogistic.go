package loss

import "polkrepro/internal/portable"

// MultiLogistic is the negative log-likelihood of the multinomial logistic
// model, the data term of the paper's eq. (multi_logistic):
//
//	ℓ(f, y) = log Σ_c exp(f_c) − f_y
//
// The sum is shifted by max f, so that it cannot overflow.
type MultiLogistic struct{}

func init() { Register(MultiLogistic{}) }

var _ Probabilistic = MultiLogistic{}

// Name returns "multi-logistic".
func (MultiLogistic) Name() string { return "multi-logistic" }

// Outputs returns classes.
func (MultiLogistic) Outputs(classes int) int { return classes }

// Value returns log Σ_c exp(f_c) − f_y.
func (MultiLogistic) Value(f []float64, y float64) float64 {
	top := Predict(f)
	return shiftedLogSum(f, top) + (f[top] - f[int(y)])
}

// Gradient writes softmax(f) − e_y to g.
func (l MultiLogistic) Gradient(g, f []float64, y float64) float64 {
	l.Probabilities(g, f) // ∂ℓ/∂f_c = p_c − [c = y]
	// Compute 1 − p_y as the sum of the other probabilities: near p_y = 1 the difference
	// would lose every digit, and the entries of g would no longer sum to zero.
	var others float64
	for c, p := range g {
		if c != int(y) {
			others += p
		}
	}
	g[int(y)] = -others
	return l.Value(f, y)
}

// Probabilities writes P(y = c | f) = exp(f_c) / Σ exp(f_c') to p, the
// paper's eq. (multi_logistic_prob).
func (MultiLogistic) Probabilities(p, f []float64) {
	shift := f[Predict(f)]
	var sum float64
	for c, v := range f {
		p[c] = portable.Exp(v - shift)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
}

// shiftedLogSum returns log Σ_c exp(f_c − f_top). The term of the largest score is
// exactly 1; log1p adds it without losing the small terms.
func shiftedLogSum(f []float64, top int) float64 {
	var rest float64
	for c, v := range f {
		if c != top {
			rest += portable.Exp(v - f[top])
		}
	}
	return portable.Log1p(rest)
}
