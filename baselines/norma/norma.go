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
	"polkrepro/baselines/internal/stream"
	"polkrepro/internal/dataset"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// A Config is everything that determines a Learner.
type Config struct {
	Kernel      kernel.Kernel       // κ
	Loss        loss.Loss           // ℓ, of C scores
	Classes     int                 // C
	Dim         int                 // p, features of a sample
	Regularizer float64             // λ > 0
	Rate        func(t int) float64 // η_t < 1/λ for step t = 0, 1, 2, …
	Memory      int                 // τ, the largest number of elements
}

type base = stream.Model

// A Learner runs NORMA and holds its current function f_t.
type Learner struct {
	*base
	cfg        Config
	t, dropped int
}

// New returns a learner with f_0 = 0. It fails if the configuration is invalid.
func New(c Config) (*Learner, error) {
	l, p := &Learner{cfg: c}, dataset.Problems{Package: "norma"}
	p.Descent(c.Loss, c.Classes, c.Rate, c.Regularizer)
	p.If(c.Regularizer == 0, "regularizer 0: must be above 0")
	p.If(c.Memory < 1, "memory %d: must be at least 1", c.Memory)
	var err error
	l.base, err = stream.NewModel(p, c.Kernel, c.Classes, c.Dim, l.learn)
	return l, err
}

func (l *Learner) learn(x []float32, y float64) error {
	entered, err := l.Descend(l.cfg.Loss, x, y, l.cfg.Rate(l.t), l.cfg.Regularizer)
	if err != nil {
		return err
	}
	l.t++
	if entered && l.F.Order() > l.cfg.Memory {
		l.F.Remove(l.Oldest())
		l.dropped++
	}
	return nil
}

// Health returns the number of elements that were dropped.
func (l *Learner) Health() map[string]float64 {
	return map[string]float64{"dropped": float64(l.dropped)}
}
