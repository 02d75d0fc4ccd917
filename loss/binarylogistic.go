package loss

import (
	"math"

	"polkrepro/internal/portable"
)

// BinaryLogistic is the logistic loss for y = ±1 (the paper's Example 2, with
// the correct derivative):
//
//	ℓ(f, y) = log(1 + exp(−y·f))
type BinaryLogistic struct{}

func init() { Register(BinaryLogistic{}) }

var _ Probabilistic = BinaryLogistic{}

// Name returns "binary-logistic".
func (BinaryLogistic) Name() string { return "binary-logistic" }

// Outputs returns 1.
func (BinaryLogistic) Outputs(int) int { return 1 }

// Binary does nothing: see [Binary].
func (BinaryLogistic) Binary() {}

// Value returns log(1 + exp(−y·f)).
func (BinaryLogistic) Value(f []float64, y float64) float64 {
	m := y * f[0]
	return max(0, -m) + portable.Log1p(portable.Exp(-math.Abs(m)))
}

// Gradient writes −y / (1 + exp(y·f)) to g.
func (l BinaryLogistic) Gradient(g, f []float64, y float64) float64 {
	g[0] = -y * sigmoid(-y*f[0])
	return l.Value(f, y)
}

// Probabilities writes P(y = −1 | f) and P(y = +1 | f) to p.
func (BinaryLogistic) Probabilities(p, f []float64) {
	p[0], p[1] = sigmoid(-f[0]), sigmoid(f[0])
}

// sigmoid returns 1/(1 + exp(−v)) without overflow, and with full relative
// precision in both tails.
func sigmoid(v float64) float64 {
	if v >= 0 {
		return 1 / (1 + portable.Exp(-v))
	}
	e := portable.Exp(v)
	return e / (1 + e)
}
