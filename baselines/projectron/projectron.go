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
// Memory is M·(p + C) numbers, and M² for K⁻¹. K⁻¹ only grows, by the inverse of a block
// matrix. x_t enters only if its squared distance from the span is above 1e-10·κ(x_t, x_t). With a
// small η, K⁻¹ would lose its digits nevertheless: whenever it grows it is measured, and once it is
// off by 1e-4 the Cholesky factor of K takes its place. A Learner's results are bit-identical for
// any number of threads. It must not be shared by goroutines. [kernel.Expansion.Write] saves its
// model.
package projectron

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"polkrepro/baselines/internal/stream"
	"polkrepro/internal/dataset"
	"polkrepro/internal/factor"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// singular is the squared distance from the span, relative to κ(x, x), below which a sample
// counts as lying in the span.
const singular = 1e-10

// inaccurate is the largest |K⁻¹·K·u − u|, for u = (1, −1, 1, …), that is let stand.
const inaccurate = 1e-4

// A Config is everything that determines a Learner.
type Config struct {
	Kernel  kernel.Kernel // κ
	Classes int           // C
	Dim     int           // p, features of a sample
	Error   float64       // η > 0, the largest error of a projection
	Budget  int           // largest number of elements; 0 for no limit
}

// Validate returns all errors in c, joined, or nil if c is valid.
func (c Config) Validate() error {
	p := dataset.Problems{Package: "projectron"}
	p.Model(c.Kernel, c.Classes, c.Dim)
	p.If(!(c.Error > 0) || math.IsInf(c.Error, 1), "Error", c.Error, "above 0 and finite")
	p.If(c.Budget < 0, "Budget", c.Budget, "at least 1, or 0 for no limit")
	return p.Err()
}

// A Learner runs Projectron++ and holds its current function f_t.
type Learner struct {
	m        *stream.Model
	cfg      Config
	inverse  gemm.Matrix[float64] // K⁻¹, or the Cholesky factor of K
	image    []float64            // K·u, which measures K⁻¹
	factored bool                 // inverse is the factor
	d        []float64            // K⁻¹k, the weights of the projection

	mistakes, projected, forced, margin int
	worst                               float64 // largest error of a projection that was not forced
}

// New returns a learner with f_0 = 0. It fails if the configuration is invalid.
func New(c Config) (*Learner, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	l := &Learner{cfg: c}
	l.m = stream.NewModel("projectron", c.Kernel, c.Classes, c.Dim, l.learn)
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
	k := l.m.Score(x)
	l.m.Saw(l.m.Scores)
	if !stream.Finite(l.m.Scores) {
		return polk.ErrDiverged
	}
	y := int(label)
	r := loss.Rival(l.m.Scores, y)
	ell := 1 - (l.m.Scores[y] - l.m.Scores[r])
	if ell <= 0 {
		return nil
	}
	self := l.m.F.Kernel.Self(x)
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
	full := l.cfg.Budget > 0 && l.m.F.Order() >= l.cfg.Budget
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
		l.enlarge(k, self, without)
		l.m.AppendPair(x, y, r, 1)
		return l.measure()
	}
	return nil
}

// project sets d to K⁻¹k and returns kᵀK⁻¹k.
func (l *Learner) project(k []float64) float64 {
	l.d = slices.Grow(l.d[:0], len(k))[:len(k)]
	if l.factored {
		copy(l.d, k)
		factor.SolveLower(l.inverse, gemm.RowOf(l.d), 1)
		within := gemm.Dot(l.d, l.d)
		factor.SolveLowerT(l.inverse, gemm.RowOf(l.d), 1)
		return within
	}
	for i := range l.d {
		l.d[i] = gemm.Dot(l.inverse.Row(i), k)
	}
	return gemm.Dot(l.d, k)
}

// add adds τ times the projection of κ(x, ·) to f_y and subtracts it from f_r.
func (l *Learner) add(y, r int, tau float64) {
	for j, d := range l.d {
		w := l.m.F.Weights(j)
		w[y] += float64(tau * d)
		w[r] -= float64(tau * d)
	}
}

// enlarge extends K⁻¹, or the factor of K, by a new element with the kernel values k and κ(x, x). d
// holds the weights of the element's projection, and s is its squared distance from the span, the
// Schur complement:
//
//	(K  k )⁻¹   (K⁻¹ + ddᵀ/s  −d/s)
//	(kᵀ κ )   = (−dᵀ/s         1/s)
func (l *Learner) enlarge(k []float64, self, s float64) {
	m := len(l.d)
	image := float64(sign(m) * self)
	for i, v := range k {
		l.image[i] += float64(sign(m) * v)
		image += float64(sign(i) * v)
	}
	l.image = append(l.image, image)
	l.inverse = l.inverse.Reshaped(m+1, m+1)
	last := l.inverse.Row(m)
	if l.factored {
		copy(last, k)
		factor.SolveLower(l.inverse.Rows(0, m).Cols(0, m), gemm.RowOf(last[:m]), 1)
		last[m] = math.Sqrt(s)
		return
	}
	for i, d := range l.d {
		row := l.inverse.Row(i)
		gemm.Axpy(d/s, l.d, row[:m])
		row[m], last[i] = -d/s, -d/s
	}
	last[m] = 1 / s
}

// sign returns u_i.
func sign(i int) float64 { return float64(1 - 2*(i%2)) }

// measure compares K⁻¹·K·u with u, and puts the factor of K, with the least squared distance added to
// its diagonal, in the place of K⁻¹ if they differ too much.
func (l *Learner) measure() error {
	if l.factored {
		return nil
	}
	worst := 0.0
	for i := range l.image {
		worst = max(worst, math.Abs(gemm.Dot(l.inverse.Row(i), l.image)-sign(i)))
	}
	if worst <= inaccurate { // false for NaN
		return nil
	}
	for i := range l.image {
		row := l.inverse.Row(i)
		copy(row, l.m.Row(l.m.F.Dict.At(i)))
		row[i] += float64(singular * row[i])
	}
	l.factored = factor.Cholesky(l.inverse, 1)
	if !l.factored {
		return errors.New("the dictionary's kernel matrix is singular: a larger Error is needed")
	}
	return nil
}

// Health returns counters: mistakes, projected (mistakes close enough to the span), forced
// (mistakes projected only because the budget was reached), margin_updates (margin errors that
// changed f), projection_error (largest error of a projection that was not forced), and factored (1
// once the factor of K has taken the place of K⁻¹).
func (l *Learner) Health() map[string]float64 {
	h := map[string]float64{
		"mistakes": float64(l.mistakes), "projected": float64(l.projected), "forced": float64(l.forced),
		"margin_updates": float64(l.margin), "projection_error": l.worst,
	}
	if l.factored {
		h["factored"] = 1
	}
	return h
}
