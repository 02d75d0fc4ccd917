package bsgd

import (
	"context"
	"fmt"

	"polkrepro/internal/dataset"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// A Learner runs budgeted stochastic gradient descent. Its results depend only on the
// configuration and the samples of each Step, not on the number of threads or on calls to
// Expansion. It must not be shared by goroutines.
type Learner struct {
	config   Config
	model    *model
	maintain maintainer
	samples  int // t
	f        []float64
	expected []bool
	scored   []float64 // scores of a step's samples
	out      kernel.Expansion

	violations, maintenances int64
	degradation              float64
}

// New returns a learner with f = 0. It fails if the configuration is invalid.
func New(c Config) (*Learner, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Learner{
		config: c, maintain: newMaintainer(c),
		model: newModel(c.Kernel, c.Dim, c.Classes, c.Budget),
		f:     make([]float64, c.Classes),
	}, nil
}

// SetThreads sets the number of goroutines a step may use, at least 1, which is the
// default. The result does not depend on it.
func (l *Learner) SetThreads(n int) { l.model.threads = max(n, 1) }

// Step processes n samples in order, one at a time: x is n×Dim row-major, y holds class indices
// 0 … C−1. It computes kernel values with the dictionary in float32, in blocks that start at
// every call. It returns the scores of each sample, computed before learning from that sample;
// they are valid until the next Step.
//
// If a sample is invalid, Step fails and learns from none. It also fails at the first sample
// whose scores or κ(x, x) overflow, and at the sample before which ctx ends, with the context's
// error: the learner has then learned from the samples before it, and is unchanged by that sample
// and the samples after it.
func (l *Learner) Step(ctx context.Context, n int, x []float32, y []float64) ([]float64, error) {
	m, dim := l.model, l.config.Dim
	if err := dataset.Check(n, dim, l.config.Classes, x, y); err != nil {
		return nil, fmt.Errorf("bsgd: %w", err)
	}
	l.scored = l.scored[:0]
	for lo := 0; lo < n; lo += windowRows {
		hi := min(lo+windowRows, n)
		m.evals += m.window.load(m, hi-lo, x[lo*dim:hi*dim])
		if e, ok := l.maintain.(*projection); ok {
			e.expect(m, l.likely(y[lo:hi]), x[lo*dim:hi*dim])
		}
		for i := lo; i < hi; i++ {
			err := ctx.Err()
			if err == nil {
				err = l.sample(x[i*dim:(i+1)*dim], int(y[i]))
			}
			if err != nil {
				return nil, fmt.Errorf("bsgd: sample %d of %d: %w", i, n, err)
			}
		}
	}
	return l.scored, nil
}

// likely reports for each of the window's samples whether it violates its margin under the
// current model. These are nearly always the samples that violate it when their turn comes.
func (l *Learner) likely(y []float64) []bool {
	m := l.model
	l.expected = l.expected[:0]
	for i, v := range y {
		err := l.scores(m.window.at(i, m.order()))
		r := loss.Rival(l.f, int(v))
		l.expected = append(l.expected, err == nil && 1+(l.f[r]-l.f[int(v)]) > 0)
	}
	return l.expected
}

// sample is one step of the algorithm.
func (l *Learner) sample(x []float32, y int) error {
	m := l.model
	if err := l.scores(m.window.take(m.order())); err != nil {
		return err
	}
	l.scored = append(l.scored, l.f...)
	if s := m.kernel.Self(x); !finite(s) {
		return fmt.Errorf("κ(x, x) = %v", s)
	}
	if err := l.config.checkRate(l.samples); err != nil {
		return err
	}
	rate := l.config.LearningRate.Rate(l.samples)
	l.samples++
	// f ← (1 − η_t·λ)f − η_t·∂ℓ. The scores are computed before the shrinking, because the update
	// takes the subgradient at f_t.
	m.shrink(1 - float64(rate*l.config.Regularizer))
	if r := loss.Rival(l.f, y); 1+(l.f[r]-l.f[y]) > 0 {
		l.violate(x, y, r, rate)
	}
	return nil
}

// scores sets f to f_c(x) for the kernel values k between x and the
// dictionary.
func (l *Learner) scores(k []float64) error {
	m := l.model
	for c := range l.f {
		l.f[c] = m.scale * gemm.Dot(m.weights(c), k)
		if !finite(l.f[c]) {
			return fmt.Errorf("score %d is %v: %w", c, l.f[c], polk.ErrDiverged)
		}
	}
	return nil
}

// violate adds x with weight +η for class y and −η for class r, and enforces the budget.
func (l *Learner) violate(x []float32, y, r int, rate float64) {
	m := l.model
	l.violations++
	m.append(x)
	last := m.order() - 1
	// Weights are kept divided by scale, so that shrinking all of them is one
	// multiplication.
	m.weights(y)[last] = rate / m.scale
	m.weights(r)[last] = -rate / m.scale
	m.reweigh(last)
	cost := l.maintain.added(m)
	if m.order() > l.config.Budget {
		l.maintenances++
		cost += l.maintain.maintain(m)
	}
	l.degradation += float64(m.scale * m.scale * cost)
}

// Expansion returns the current model, valid until the next Step.
func (l *Learner) Expansion() *kernel.Expansion {
	m := l.model
	w := grow(l.out.W, m.order()*m.classes)
	for c := range m.classes {
		for j, v := range m.weights(c) {
			w[j*m.classes+c] = m.scale * v
		}
	}
	l.out = kernel.Expansion{Kernel: m.kernel, Dict: m.dict, Outputs: m.classes, W: w}
	return &l.out
}

// Model returns the Expansion.
func (l *Learner) Model() kernel.Model { return l.Expansion() }

// KernelEvals returns the number of evaluations of κ in training so far.
func (l *Learner) KernelEvals() int64 { return l.model.evals }

// Health returns counters: samples, violations (samples that entered), maintenances, degradation
// (sum of ‖f − f'‖² over maintenances and absorbed samples), and for projection dependent
// (samples absorbed because they would make the Gram matrix singular), probes, repairs, and drift
// (largest error of the factor that a probe found).
func (l *Learner) Health() map[string]float64 {
	h := map[string]float64{
		"samples":      float64(l.samples),
		"violations":   float64(l.violations),
		"maintenances": float64(l.maintenances),
		"degradation":  l.degradation,
	}
	l.maintain.health(h)
	return h
}
