// Package fogd is Fourier online gradient descent: a linear model on random Fourier
// features that learns sample by sample (J. Lu, S. Hoi, J. Wang, P. Zhao, Z.-Y. Liu, "Large
// scale online kernel learning", JMLR 17, 2016).
//
// With D frequencies ω_j ~ N(0, c⁻²I) the features φ are the D pairs cos(ω_jᵀx)/√D and
// sin(ω_jᵀx)/√D, whose inner products estimate the Gaussian kernel exp(−‖x−x'‖²/(2c²))
// without bias (A. Rahimi, B. Recht, "Random features for large-scale kernel machines",
// NIPS 2007), and with less variance than one cosine of random phase for each frequency
// (D. Sutherland, J. Schneider, "On the error of random Fourier features", UAI 2015). A
// step is
//
//	W ← (1 − ηλ)·W − η·ℓ'(Wφ(x), y)·φ(x)ᵀ.
//
// FOGD as published has λ = 0 and a constant η. With λ > 0 it is the usual stochastic
// gradient descent on random features (Rahimi and Recht).
//
// # What differs from the paper
//
// The authors' program does not divide the features by √D. Here φ(x)ᵀφ(x') estimates
// κ(x, x'), so that η means what it means for a learner with the kernel itself, which this
// one approaches as D grows; the program's η is this one divided by D. The multi-class form is the paper's: a row
// of W for each class, and a loss of all scores, such as [loss.MultiHinge].
//
// # Cost
//
// D·p multiply-adds, D sines and cosines and 4·D·C multiply-adds a sample. Memory is D·p
// numbers for the frequencies and 2·D·C weights, whatever the length of the stream. It is for
// the Gaussian kernel alone. A Learner gives the same bits whatever the number of
// threads. It must not be shared by goroutines.
package fogd

import (
	"fmt"

	"polkrepro/baselines/internal/stream"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// A Config is everything that determines a Learner.
type Config struct {
	Kernel      kernel.Gaussian     // κ
	Loss        loss.Loss           // ℓ, of a function for each class
	Classes     int                 // C
	Dim         int                 // p, features of a sample
	Frequencies int                 // D
	Seed        uint64              // of the frequencies
	Regularizer float64             // λ ≥ 0; 0 for FOGD as published
	Rate        func(t int) float64 // η_t with η_t·λ < 1, of step t = 0, 1, 2, …
}

type samples = stream.Samples

// A Learner is W_t.
type Learner struct {
	samples
	cfg    Config
	t      int
	model  *Model
	linear *stream.Linear // on the model's weights
	phi    []float64
	single []float32 // phi in float32
}

// New returns the learner of W = 0. It fails if the configuration is not valid.
func New(c Config) (*Learner, error) {
	l := &Learner{cfg: c}
	var err error
	if l.samples, err = stream.NewSamples("fogd", c.Kernel, c.Classes, c.Dim, l.learn); err != nil {
		return nil, err
	}
	if c.Frequencies < 1 || !(c.Regularizer >= 0) {
		return nil, fmt.Errorf("fogd: %d frequencies and regularizer %v: want at least 1 and 0", c.Frequencies, c.Regularizer)
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

// Model returns the current model, a *Model and the learner's own.
func (l *Learner) Model() kernel.Model { return l.model }
