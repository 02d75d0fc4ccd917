// Package norma is NORMA: stochastic gradient descent in the reproducing kernel Hilbert
// space that forgets its oldest terms (J. Kivinen, A. Smola, R. Williamson, "Online
// learning with kernels", IEEE Transactions on Signal Processing 52(8), 2004).
//
// A step on (x_t, y_t) is
//
//	f_{t+1} = (1 − η_t λ)·f_t − η_t·ℓ'(f_t(x_t), y_t)·κ(x_t, ·),
//
// so a term's weight decays by a factor 1 − ηλ per step. NORMA drops the terms older than the
// last τ. At constant η they add up to less than (1 − ηλ)^τ·GX/λ, where G bounds ‖ℓ'‖ and X²
// bounds κ(x, x): this is the paper's bound of the truncation error.
//
// # What differs from the paper
//
// The paper has one function and labels ±1. Here f has one function per class and ℓ is a loss of
// all of them, such as [loss.MultiHinge] with ‖ℓ'‖ ≤ √2. Samples with zero gradient are not
// stored, so τ counts the stored elements, which reach back at least τ steps. There is no offset
// b. The loss fixes the margin, which the paper can also adapt to a fraction ν of errors.
//
// # Cost
//
// A sample costs M·(p + C) multiply-adds at M ≤ τ elements; memory is as many numbers. A
// Learner's results are bit-identical for any number of threads. It must not be shared by
// goroutines. [kernel.Expansion.Write] saves its model.
package norma

import (
	"context"

	"polkrepro/baselines/internal/stream"
	"polkrepro/internal/dataset"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// A Config is everything that determines a Learner.
type Config struct {
	Kernel       kernel.Kernel // κ
	Loss         loss.Loss     // ℓ, of C scores
	Classes      int           // C
	Dim          int           // p, features of a sample
	Regularizer  float64       // λ > 0
	LearningRate polk.Schedule // η_t < 1/λ
	Memory       int           // τ, the largest number of elements
}

// Validate returns all errors in c, joined, or nil if c is valid.
func (c Config) Validate() error {
	p := dataset.Problems{Package: "norma"}
	p.Model(c.Kernel, c.Classes, c.Dim)
	p.Loss(c.Loss, c.Classes)
	p.Descent(c.LearningRate, c.Regularizer)
	p.If(c.Regularizer == 0, "Regularizer", 0, "above 0")
	p.If(c.Memory < 1, "Memory", c.Memory, "at least 1")
	return p.Err()
}

// A Learner runs NORMA and holds its current function f_t.
type Learner struct {
	m       *stream.Model
	cfg     Config
	descent stream.Descent
	dropped int
}

// New returns a learner with f_0 = 0. It fails if the configuration is invalid.
func New(c Config) (*Learner, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	l := &Learner{cfg: c, descent: stream.Descent{Loss: c.Loss, Rates: c.LearningRate, Lambda: c.Regularizer}}
	l.m = stream.NewModel("norma", c.Kernel, c.Classes, c.Dim, l.learn)
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

func (l *Learner) learn(x []float32, y float64) error {
	entered, err := l.m.Descend(l.descent, x, y)
	if err != nil {
		return err
	}
	if entered && l.m.F.Order() > l.cfg.Memory {
		l.m.F.Remove(l.m.Oldest())
		l.dropped++
	}
	return nil
}

// Health returns the number of elements that were dropped.
func (l *Learner) Health() map[string]float64 {
	return map[string]float64{"dropped": float64(l.dropped)}
}
