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
	"polkrepro/baselines/internal/stream"
	"polkrepro/internal/dataset"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// A Config is everything that determines a Learner.
type Config struct {
	Kernel      kernel.Gaussian     // κ
	Loss        loss.Loss           // ℓ, of C scores
	Classes     int                 // C
	Dim         int                 // p, features of a sample
	Frequencies int                 // D
	Seed        uint64              // seeds the frequencies
	Regularizer float64             // λ ≥ 0; 0 for FOGD as published
	Rate        func(t int) float64 // η_t with η_t·λ < 1, for step t = 0, 1, 2, …
}

type samples = stream.Samples

// A Learner runs FOGD and holds its current weights W_t.
type Learner struct {
	samples
	cfg    Config
	t      int
	model  *Model
	linear *stream.Linear // shares the model's weights
	phi    []float64
	single []float32 // phi in float32
}

// New returns a learner with W = 0. It fails if the configuration is invalid.
func New(c Config) (*Learner, error) {
	l, p := &Learner{cfg: c}, dataset.Problems{Package: "fogd"}
	p.Descent(c.Loss, c.Classes, c.Rate, c.Regularizer)
	p.If(c.Frequencies < 1, "%d frequencies: want at least 1", c.Frequencies)
	var err error
	if l.samples, err = stream.NewSamples(p, c.Kernel, c.Classes, c.Dim, l.learn); err != nil {
		return nil, err
	}
	l.model = newModel(c)
	l.linear = stream.NewLinear(c.Classes, l.model.W)
	l.phi, l.single = make([]float64, 2*c.Frequencies), make([]float32, 2*c.Frequencies)
	return l, nil
}

func (l *Learner) learn(x []float32, y float64) error {
	l.model.features(1, x, l.single, l.Threads)
	kernel.Widen(l.phi, l.single)
	if err := l.linear.Descend(l.cfg.Loss, l.phi, y, l.cfg.Rate(l.t), l.cfg.Regularizer); err != nil {
		return err
	}
	l.Saw(l.linear.Scores)
	l.t++
	return nil
}

// Model returns the current model, a *Model. It is not a copy: later steps change it.
func (l *Learner) Model() kernel.Model { return l.model }
