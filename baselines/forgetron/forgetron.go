// Package forgetron is the self-tuned Forgetron, a kernel Perceptron on a budget
// (O. Dekel, S. Shalev-Shwartz, Y. Singer, "The Forgetron: a kernel-based Perceptron on a
// budget", SIAM Journal on Computing 37(5), 2008).
//
// On a mistake the Perceptron adds the example, f' = f + y_t κ(x_t, ·). If that is one more
// than the budget B allows, f' is shrunk by the largest φ_t in (0, 1] with
//
//	Q_{t−1} + Ψ(σφ_t, φ_t μ) ≤ (15/32)·M_t,   Ψ(a, b) = a² + 2a − 2ab,
//
// and then loses its oldest example r, of weight σ and margin μ = y_r f'(x_r). M_t counts
// the mistakes and Q_t adds up Ψ, which bounds what removals cost. So an example's
// influence fades before it is dropped, and the number of mistakes stays within a bound
// relative to every g that is not too long for the budget, on any sequence.
//
// # The multi-class form
//
// The paper has labels ±1. By Kesler's construction, an example of class y whose
// strongest wrong class is r is the example κ(x, ·)⊗(e_y − e_r)/√2 with label +1, of the
// same norm as κ(x, ·): a mistake is f_y ≤ f_r, and the algorithm and its bound, which asks
// for κ(x, x) ≤ 1, hold word for word. The scale of f means nothing, so its hinge loss is
// no more than a number beside its error.
//
// # Cost
//
// M·(p + C) multiply-adds a sample at M ≤ B elements, twice that and M·C more for a
// mistake beyond the budget. Memory is M·(p + C) numbers. A Learner gives the same bits
// whatever the number of threads. It must not be shared by goroutines.
// [kernel.Expansion.Write] saves its model.
package forgetron

import (
	"fmt"
	"math"
	"slices"

	"polkrepro/baselines/internal/stream"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// A Config is everything that determines a Learner.
type Config struct {
	Kernel  kernel.Kernel // κ, at most 1 for the mistake bound
	Classes int           // C
	Dim     int           // p, features of a sample
	Budget  int           // B, the most elements
}

type base = stream.Model

// A Learner is f_t.
type Learner struct {
	*base
	cfg       Config
	mistakes  int // M_t
	removals  int
	deviation float64 // Q_t
	shrinking float64 // the product of all φ_t
}

// New returns the learner of f_0 = 0. It fails if the configuration is not valid.
func New(c Config) (*Learner, error) {
	l := &Learner{cfg: c, shrinking: 1}
	if c.Budget < 1 {
		return nil, fmt.Errorf("forgetron: budget %d is below 1", c.Budget)
	}
	var err error
	l.base, err = stream.NewModel("forgetron", c.Kernel, c.Classes, c.Dim, l.learn)
	return l, err
}

func (l *Learner) learn(x []float32, label float64) error {
	l.Score(x)
	l.Saw(l.Scores)
	y := int(label)
	r := loss.Rival(l.Scores, y)
	if l.Scores[y] > l.Scores[r] {
		return nil
	}
	l.mistakes++
	l.AppendPair(x, y, r, 1/math.Sqrt2)
	if l.F.Order() > l.cfg.Budget {
		l.forget(l.Oldest())
	}
	return nil
}

// forget shrinks f' and removes element j.
func (l *Learner) forget(j int) {
	l.Score(l.F.Dict.At(j))
	w := l.F.Weights(j) // σ·(e_y − e_r)/√2
	sigma, mu := 0.0, 0.0
	if y := slices.Index(w, slices.Max(w)); w[y] > 0 { // after 10⁴ shrinkings it may be 0
		sigma = math.Sqrt2 * w[y]
		mu = (l.Scores[y] - l.Scores[slices.Index(w, slices.Min(w))]) / math.Sqrt2
	}
	phi := shrinkage(sigma, mu, float64(15.0/32*float64(l.mistakes))-l.deviation)
	l.Shrink(phi)
	l.shrinking *= phi
	l.deviation += psi(phi*sigma, phi*mu)
	l.F.Remove(j)
	l.removals++
}

// psi is Ψ.
func psi(a, b float64) float64 { return float64(a*a) + 2*a - 2*float64(a*b) }

// shrinkage returns the largest φ in (0, 1] with Ψ(σφ, φμ) ≤ room. room is above 0, so
// that where 1 is too large, the least root of the quadratic is what is looked for.
func shrinkage(sigma, mu, room float64) float64 {
	if psi(sigma, mu) <= room {
		return 1
	}
	a, b := float64(sigma*sigma)-2*float64(sigma*mu), 2*sigma
	return 2 * room / (b + math.Sqrt(max(0, float64(b*b)+4*float64(a*room))))
}

// Health returns the mistakes M, the removals, the deviation Q ≤ (15/32)·M, and the product
// of all φ.
func (l *Learner) Health() map[string]float64 {
	return map[string]float64{
		"mistakes": float64(l.mistakes), "removals": float64(l.removals),
		"deviation": l.deviation, "shrinking": l.shrinking,
	}
}
