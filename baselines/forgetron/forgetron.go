// Package forgetron is the self-tuned Forgetron, a kernel Perceptron on a budget
// (O. Dekel, S. Shalev-Shwartz, Y. Singer, "The Forgetron: a kernel-based Perceptron on a
// budget", SIAM Journal on Computing 37(5), 2008).
//
// On a mistake the Perceptron adds the example, f' = f + y_t κ(x_t, ·). If the dictionary then
// exceeds the budget B, f' is shrunk by the largest φ_t in (0, 1] with
//
//	Q_{t−1} + Ψ(σφ_t, φ_t μ) ≤ (15/32)·M_t,   Ψ(a, b) = a² + 2a − 2ab,
//
// and then loses its oldest example r, which has weight σ and margin μ = y_r f'(x_r). M_t is the
// number of mistakes; Q_t is the sum of Ψ, which bounds the cost of removals. So an example's
// influence fades before the example is dropped, and on any sequence the number of mistakes is
// bounded relative to every function g whose norm is small enough for the budget.
//
// # The multi-class form
//
// The paper has labels ±1. Kesler's construction turns an example of class y, whose wrong class
// with the highest score is r, into the example κ(x, ·)⊗(e_y − e_r)/√2 with label +1 and the norm
// of κ(x, ·). A mistake is f_y ≤ f_r. The algorithm and its mistake bound, which requires
// κ(x, x) ≤ 1, hold unchanged. The scale of f has no meaning, so only the error rate of f is
// meaningful, not its hinge loss.
//
// # Cost
//
// A sample costs M·(p + C) multiply-adds at M ≤ B elements. A mistake beyond the budget costs
// twice that, and M·C more. Memory is M·(p + C) numbers. A Learner's results are bit-identical
// for any number of threads. It must not be shared by goroutines. [kernel.Expansion.Write] saves
// its model.
package forgetron

import (
	"context"
	"math"
	"slices"

	"polkrepro/baselines/internal/stream"
	"polkrepro/internal/dataset"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// A Config is everything that determines a Learner.
type Config struct {
	Kernel  kernel.Kernel // κ; the mistake bound requires κ(x, x) ≤ 1
	Classes int           // C
	Dim     int           // p, features of a sample
	Budget  int           // B, the largest number of elements
}

// Validate returns all errors in c, joined, or nil if c is valid.
func (c Config) Validate() error {
	p := dataset.Problems{Package: "forgetron"}
	p.Model(c.Kernel, c.Classes, c.Dim)
	p.If(c.Budget < 1, "Budget", c.Budget, "at least 1")
	return p.Err()
}

// A Learner runs the Forgetron and holds its current function f_t.
type Learner struct {
	m         *stream.Model
	cfg       Config
	mistakes  int // M_t
	removals  int
	deviation float64 // Q_t
	shrinking float64 // the product of all φ_t
}

// New returns a learner with f_0 = 0. It fails if the configuration is invalid.
func New(c Config) (*Learner, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	l := &Learner{cfg: c, shrinking: 1}
	l.m = stream.NewModel("forgetron", c.Kernel, c.Classes, c.Dim, l.learn)
	return l, nil
}

// Step learns from n samples, one after another: x is n×Dim in row-major order, y holds n classes
// 0 … C−1. It returns the scores of each sample, n×C, computed before learning from that sample;
// they are valid until the next Step. If a sample is invalid, Step learns from none. If a score, loss
// or learning rate is not finite, or ctx ends, it fails at that sample, has learned from those before
// it, and can go on.
func (l *Learner) Step(ctx context.Context, n int, x []float32, y []float64) ([]float64, error) {
	return l.m.Step(ctx, n, x, y)
}

// SetThreads sets the number of goroutines that a step may use, at least 1, which is the default.
// The results do not depend on it.
func (l *Learner) SetThreads(n int) { l.m.SetThreads(n) }

// KernelEvals returns the number of evaluations of κ in steps so far.
func (l *Learner) KernelEvals() int64 { return l.m.Evals }

// Expansion returns the current model. It is not a copy: later steps change it.
func (l *Learner) Expansion() *kernel.Expansion { return l.m.F }

// Model returns the Expansion.
func (l *Learner) Model() kernel.Model { return l.m.F }

func (l *Learner) learn(x []float32, label float64) error {
	l.m.Score(x)
	l.m.Saw(l.m.Scores)
	if !stream.Finite(l.m.Scores) {
		return polk.ErrDiverged
	}
	y := int(label)
	r := loss.Rival(l.m.Scores, y)
	if l.m.Scores[y] > l.m.Scores[r] {
		return nil
	}
	l.mistakes++
	l.m.AppendPair(x, y, r, 1/math.Sqrt2)
	if l.m.F.Order() > l.cfg.Budget {
		l.forget(l.m.Oldest())
	}
	return nil
}

// forget shrinks f' and removes element j.
func (l *Learner) forget(j int) {
	l.m.Score(l.m.F.Dict.At(j))
	w := l.m.F.Weights(j) // σ·(e_y − e_r)/√2
	sigma, mu := 0.0, 0.0
	if y := slices.Index(w, slices.Max(w)); w[y] > 0 { // after 10⁴ shrinkings the weight may be 0
		sigma = math.Sqrt2 * w[y]
		mu = (l.m.Scores[y] - l.m.Scores[slices.Index(w, slices.Min(w))]) / math.Sqrt2
	}
	phi := shrinkage(sigma, mu, float64(15.0/32*float64(l.mistakes))-l.deviation)
	l.m.Shrink(phi)
	l.shrinking *= phi
	l.deviation += psi(phi*sigma, phi*mu)
	l.m.F.Remove(j)
	l.removals++
}

// psi is Ψ.
func psi(a, b float64) float64 { return float64(a*a) + 2*a - 2*float64(a*b) }

// shrinkage returns the largest φ in (0, 1] with Ψ(σφ, φμ) ≤ room, for room > 0. If φ = 1 is too
// large, the result is the smallest positive root of the quadratic.
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
