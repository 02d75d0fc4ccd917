// Package fogd is Fourier online gradient descent: a linear model on random Fourier
// features that learns sample by sample (J. Lu, S. Hoi, J. Wang, P. Zhao, Z.-Y. Liu, "Large
// scale online kernel learning", JMLR 17, 2016).
//
// With D frequencies ω_j ~ N(0, c⁻²I), the features φ are the D pairs cos(ω_jᵀx)/√D and
// sin(ω_jᵀx)/√D. Their inner products are unbiased estimates of the Gaussian kernel
// exp(−‖x−x'‖²/(2c²)) (A. Rahimi, B. Recht, "Random features for large-scale kernel machines",
// NIPS 2007), with less variance than one cosine of random phase for each frequency
// (D. Sutherland, J. Schneider, "On the error of random Fourier features", UAI 2015). A step is
//
//	W ← (1 − ηλ)·W − η·ℓ'(Wφ(x), y)·φ(x)ᵀ.
//
// FOGD as published has λ = 0 and a constant η. With λ > 0 it is the usual stochastic
// gradient descent on random features (Rahimi and Recht).
//
// # What differs from the paper
//
// The authors' program does not divide the features by √D. This package does, so that φ(x)ᵀφ(x')
// estimates κ(x, x') and η has the same meaning as for a learner with the kernel itself, which
// FOGD approaches as D grows. The program's η is this package's η divided by D. The multi-class
// form is the paper's: one row of W per class, and a loss of all scores, such as
// [loss.MultiHinge].
//
// # Cost
//
// A sample costs D·p multiply-adds for the phases, D sines and cosines, and 4·D·C multiply-adds.
// Memory is D·p numbers for the frequencies and 2·D·C weights, whatever the length of the stream.
// The kernel must be Gaussian. A Learner's results are bit-identical for any number of threads.
// It must not be shared by goroutines.
package fogd

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
	Kernel       kernel.Gaussian // κ
	Loss         loss.Loss       // ℓ, of C scores
	Classes      int             // C
	Dim          int             // p, features of a sample
	Frequencies  int             // D
	Seed         uint64          // seeds the frequencies
	Regularizer  float64         // λ ≥ 0; 0 for FOGD as published
	LearningRate polk.Schedule   // η_t < 1/λ
}

// Validate returns all errors in c, joined, or nil if c is valid.
func (c Config) Validate() error {
	p := dataset.Problems{Package: "fogd"}
	p.Model(c.Kernel, c.Classes, c.Dim)
	p.Loss(c.Loss, c.Classes)
	p.Descent(c.LearningRate, c.Regularizer)
	p.If(c.Frequencies < 1, "Frequencies", c.Frequencies, "at least 1")
	return p.Err()
}

// A Learner runs FOGD and holds its current weights W_t.
type Learner struct {
	s       stream.Samples
	descent stream.Descent
	model   *Model
	linear  *stream.Linear // shares the model's weights
	phi     []float64
	single  []float32 // phi in float32
}

// New returns a learner with W = 0. It fails if the configuration is invalid.
func New(c Config) (*Learner, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	l := &Learner{
		descent: stream.Descent{Loss: c.Loss, Rates: c.LearningRate, Lambda: c.Regularizer}, model: newModel(c),
		phi: make([]float64, 2*c.Frequencies), single: make([]float32, 2*c.Frequencies),
	}
	l.s = stream.NewSamples("fogd", c.Classes, c.Dim, l.learn)
	l.linear = stream.NewLinear(c.Classes, l.model.W)
	return l, nil
}

// Step learns from n samples, one after another: x is n×Dim in row-major order, y holds n classes
// 0 … C−1. It returns the scores of each sample, n×C, computed before learning from that sample;
// they are valid until the next Step. If a sample is invalid, Step learns from none. If a score, loss
// or learning rate is not finite, or ctx ends, it fails at that sample, has learned from those before
// it, and can go on.
func (l *Learner) Step(ctx context.Context, n int, x []float32, y []float64) ([]float64, error) {
	return l.s.Step(ctx, n, x, y)
}

// SetThreads sets the number of goroutines that a step may use, at least 1, which is the default.
// The results do not depend on it.
func (l *Learner) SetThreads(n int) { l.s.SetThreads(n) }

// KernelEvals returns 0: features take the place of κ.
func (l *Learner) KernelEvals() int64 { return 0 }

// Health returns an empty map: there are no counters.
func (l *Learner) Health() map[string]float64 { return map[string]float64{} }

func (l *Learner) learn(x []float32, y float64) error {
	l.model.features(1, x, l.single, l.s.Threads)
	kernel.Widen(l.phi, l.single)
	err := l.linear.Descend(l.s.T, l.descent, l.phi, y)
	l.s.Saw(l.linear.Scores)
	return err
}

// Model returns the current model, a *Model. It is not a copy: later steps change it.
func (l *Learner) Model() kernel.Model { return l.model }
