// Package projectron implements Projectron++, a kernel Perceptron that projects an update onto
// the span of its dictionary where the projection error is small (F. Orabona, J. Keshet,
// B. Caputo, "Bounded kernel-based online learning", JMLR 10, 2009).
//
// Let P be the projection onto the span of the dictionary, and Δ_t = y_t κ(x_t, ·) the update of
// the Perceptron.
//
//   - On a mistake, f ← f + PΔ_t if the error of the projection ‖Δ_t − PΔ_t‖ is at most η.
//     Otherwise f ← f + Δ_t, and x_t enters the dictionary.
//   - On a margin error, 0 < y_t f(x_t) < 1, with ℓ = 1 − y_t f(x_t): if
//     ℓ > ‖Δ_t − PΔ_t‖/η, then f ← f + τ·PΔ_t, where
//     τ = min{ℓ/‖PΔ_t‖², 2(ℓ − ‖Δ_t − PΔ_t‖/η)/‖PΔ_t‖², 1}.
//
// η trades size for accuracy. The dictionary is finite for every η > 0, and the number of
// mistakes is bounded relative to every function g whose norm is small compared with 1/η.
//
// # The multi-class form
//
// Each class has a function, and all functions share one dictionary. Δ_t is
// κ(x_t, ·)⊗(e_y − e_r), where y is the true class and r the wrong class with the highest score;
// y_t f(x_t) becomes f_y − f_r. The classes share K⁻¹, so ‖PΔ_t‖² is 2kᵀK⁻¹k. (The authors' own
// multi-class program, DOGMA, keeps for each class a K⁻¹ over the elements that this class has
// added.)
//
// The paper has no budget. With a budget, a mistake that would exceed it is projected whatever
// the error, as in the programs of J. Lu and others, who compare methods at equal budgets ("Large
// scale online kernel learning", JMLR 17, 2016). [Learner.Health] counts these projections.
//
// # Cost
//
// A sample costs M·(p + C) multiply-adds at M elements, and M² more if it violates its margin.
// Memory is M·(p + C) numbers, and M² for K⁻¹. K⁻¹ only grows, by the inverse of a block matrix.
// x_t enters only if its squared distance from the span is above 1e-10·κ(x_t, x_t), so that the
// inverse keeps some digits however small η is. A Learner's results are bit-identical for any
// number of threads. It must not be shared by goroutines. [kernel.Expansion.Write] saves its
// model.
package projectron

import (
	"fmt"
	"math"
	"slices"

	"polkrepro/baselines/internal/dataset"
	"polkrepro/baselines/internal/stream"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// singular is the squared distance from the span, relative to κ(x, x), below which a sample
// counts as lying in the span.
const singular = 1e-10

// A Config is everything that determines a Learner.
type Config struct {
	Kernel  kernel.Kernel // κ
	Classes int           // C
	Dim     int           // p, features of a sample
	Error   float64       // η > 0, the largest error of a projection
	Budget  int           // largest number of elements; 0 for no limit
}

type base = stream.Model

// A Learner runs Projectron++ and holds its current function f_t.
type Learner struct {
	*base
	cfg     Config
	inverse []float64 // K⁻¹, rows stride apart
	stride  int
	d       []float64 // K⁻¹k, the weights of the projection

	mistakes, projected, forced, margin int
	worst                               float64 // largest error of a projection that was not forced
}

// New returns a learner with f_0 = 0. It fails if the configuration is invalid.
func New(c Config) (*Learner, error) {
	l, p := &Learner{cfg: c}, dataset.Problems{Package: "projectron"}
	p.If(!(c.Error > 0) || math.IsInf(c.Error, 1), "error %v is not a number > 0", c.Error)
	p.If(c.Budget < 0, "budget %d: must be at least 0", c.Budget)
	var err error
	l.base, err = stream.NewModel(p, c.Kernel, c.Classes, c.Dim, l.learn)
	return l, err
}

func (l *Learner) learn(x []float32, label float64) error {
	k := l.Score(x)
	l.Saw(l.Scores)
	if !stream.Finite(l.Scores) {
		return stream.ErrDiverged
	}
	y := int(label)
	r := loss.Rival(l.Scores, y)
	ell := 1 - (l.Scores[y] - l.Scores[r])
	if ell <= 0 {
		return nil
	}
	self := l.F.Kernel.Self(x)
	if !(self >= 0) || math.IsInf(self, 1) {
		return fmt.Errorf("κ(x, x) = %v", self)
	}
	within := l.project(k)             // ‖Pκ(x, ·)‖²
	without := max(0, self-within)     // ‖κ(x, ·) − Pκ(x, ·)‖²
	distance := math.Sqrt(2 * without) // ‖Δ − PΔ‖: Δ has κ(x, ·) twice
	if ell < 1 {
		if slack := ell - distance/l.cfg.Error; slack > 0 {
			norm := 2 * within
			l.add(y, r, min(ell/norm, 2*slack/norm, 1))
			l.margin++
		}
		return nil
	}
	l.mistakes++
	full := l.cfg.Budget > 0 && l.F.Order() >= l.cfg.Budget
	near := distance <= l.cfg.Error || without <= singular*self
	switch {
	case near:
		l.add(y, r, 1)
		l.projected++
		l.worst = max(l.worst, distance)
	case full:
		l.add(y, r, 1)
		l.forced++
	default:
		l.enlarge(without)
		l.AppendPair(x, y, r, 1)
	}
	return nil
}

// project sets d to K⁻¹k and returns kᵀK⁻¹k.
func (l *Learner) project(k []float64) float64 {
	l.d = slices.Grow(l.d[:0], len(k))[:len(k)]
	for i := range l.d {
		l.d[i] = gemm.Dot(l.row(i), k)
	}
	return gemm.Dot(l.d, k)
}

// row returns row i of K⁻¹.
func (l *Learner) row(i int) []float64 { return l.inverse[i*l.stride:][:len(l.d)] }

// add adds τ times the projection of κ(x, ·) to f_y and subtracts it from f_r.
func (l *Learner) add(y, r int, tau float64) {
	for j, d := range l.d {
		w := l.F.Weights(j)
		w[y] += float64(tau * d)
		w[r] -= float64(tau * d)
	}
}

// enlarge extends K⁻¹ by a new element. d holds the weights of the element's projection, and s is
// its squared distance from the span, the Schur complement:
//
//	(K  k )⁻¹   (K⁻¹ + ddᵀ/s  −d/s)
//	(kᵀ κ )   = (−dᵀ/s         1/s)
func (l *Learner) enlarge(s float64) {
	m := len(l.d)
	if m == l.stride {
		stride := max(16, 2*m)
		larger := make([]float64, stride*stride)
		for i := range m {
			copy(larger[i*stride:], l.row(i))
		}
		l.inverse, l.stride = larger, stride
	}
	for i, d := range l.d {
		gemm.Axpy(d/s, l.d, l.row(i))
		l.inverse[i*l.stride+m] = -d / s
		l.inverse[m*l.stride+i] = -d / s
	}
	l.inverse[m*l.stride+m] = 1 / s
}

// Health returns counters: mistakes, projected (mistakes close enough to the span), forced
// (mistakes projected only because the budget was reached), margin_updates (margin errors that
// changed f), and projection_error (largest error of a projection that was not forced).
func (l *Learner) Health() map[string]float64 {
	return map[string]float64{
		"mistakes": float64(l.mistakes), "projected": float64(l.projected), "forced": float64(l.forced),
		"margin_updates": float64(l.margin), "projection_error": l.worst,
	}
}
