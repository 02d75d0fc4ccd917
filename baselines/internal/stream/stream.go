// Package stream implements the common parts of learners that process one sample per step: a
// kernel expansion with its values at the sample, a linear model of explicit features, and a step
// of stochastic gradient descent on either.
package stream

import (
	"context"
	"fmt"
	"slices"

	"polkrepro/internal/dataset"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// Samples passes a learner its samples one at a time, and keeps the scores of each sample,
// computed before learning from it.
type Samples struct {
	Threads int   // goroutines a step may use
	Evals   int64 // kernel evaluations so far
	T       int   // samples learned so far

	name         string
	dim, classes int // classes is 1 for a regression
	learn        func(x []float32, y float64) error
	scores       []float64
}

// NewSamples returns the Samples of a learner of the named package. learn learns from one sample and
// passes the sample's scores to Saw. The learner's configuration must be valid.
func NewSamples(name string, classes, dim int, learn func(x []float32, y float64) error) Samples {
	return Samples{Threads: 1, name: name, dim: dim, classes: classes, learn: learn}
}

// SetThreads implements the method of learners.
func (s *Samples) SetThreads(n int) { s.Threads = max(n, 1) }

// Saw records the scores of a sample.
func (s *Samples) Saw(scores []float64) { s.scores = append(s.scores, scores...) }

// Step implements the method of learners. If a sample is invalid, it learns from none. At a sample
// that the learner can't learn from, such as one whose loss or scores are not finite, it has learned
// from the samples before, and can go on.
func (s *Samples) Step(ctx context.Context, n int, x []float32, y []float64) ([]float64, error) {
	if err := dataset.Check(n, s.dim, s.classes, x, y); err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	s.scores = s.scores[:0]
	for i := range n {
		err := ctx.Err()
		if err == nil {
			err = s.learn(x[i*s.dim:(i+1)*s.dim], y[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: sample %d of %d: %w", s.name, i+1, n, err)
		}
		s.T++
	}
	return s.scores, nil
}

// A Model is f = Σ_j w_j κ(d_j, ·) with the buffers of a step.
type Model struct {
	Samples
	F      *kernel.Expansion
	Scores []float64 // f(x) of the latest Score

	grad, x, row []float64
}

// NewModel returns f = 0, with one function per class; see [NewSamples].
func NewModel(name string, k kernel.Kernel, classes, dim int, learn func(x []float32, y float64) error) *Model {
	return &Model{
		Samples: NewSamples(name, classes, dim, learn), F: kernel.NewExpansion(k, dim, classes),
		Scores: make([]float64, classes), grad: make([]float64, classes), x: make([]float64, dim),
	}
}

// Row returns κ(d_j, x) for all dictionary elements d_j in float64, valid until the next call.
func (m *Model) Row(x []float32) []float64 {
	order := m.F.Order()
	m.row = slices.Grow(m.row[:0], order)[:order]
	if order > 0 {
		kernel.Widen(m.x, x)
		m.F.Dict.Block64(m.F.Kernel, gemm.RowOf(m.x), gemm.RowOf(m.row), m.Threads)
		m.Evals += int64(order)
	}
	return m.row
}

// Score sets Scores to f(x) and returns the Row of x.
func (m *Model) Score(x []float32) []float64 {
	row := m.Row(x)
	clear(m.Scores)
	for j, k := range row {
		for c, w := range m.F.Weights(j) {
			m.Scores[c] += float64(k * w)
		}
	}
	return row
}

// AppendPair adds an element with the weight w for class y and −w for class r.
func (m *Model) AppendPair(x []float32, y, r int, w float64) {
	clear(m.grad)
	m.grad[y], m.grad[r] = w, -w
	m.F.Append(x, m.grad)
}

// Shrink multiplies f by a factor.
func (m *Model) Shrink(factor float64) { scale(m.F.W, factor) }

// Oldest returns the element that entered first: later ones have larger IDs.
func (m *Model) Oldest() int {
	oldest := 0
	for j := range m.F.Order() {
		if m.F.Dict.ID(j) < m.F.Dict.ID(oldest) {
			oldest = j
		}
	}
	return oldest
}

// A Descent is stochastic gradient descent on λ/2 Σ_c ‖f_c‖² + ℓ.
type Descent struct {
	Loss   loss.Loss
	Rates  polk.Schedule
	Lambda float64
}

// Descend takes a step on λ/2 Σ_c ‖f_c‖² + ℓ,
//
//	f ← (1 − ηλ)·f − η·ℓ'(f(x), y)·κ(x, ·),
//
// and reports whether x entered the dictionary, which it does unless ℓ' is 0.
func (m *Model) Descend(d Descent, x []float32, y float64) (entered bool, err error) {
	m.Score(x)
	m.Saw(m.Scores)
	rate, err := d.Gradient(m.T, m.grad, m.Scores, y)
	if err != nil {
		return false, err
	}
	m.Shrink(1 - float64(rate*d.Lambda))
	for c, g := range m.grad {
		if g != 0 {
			m.grad[c], entered = -rate*g, true
		}
	}
	if entered {
		m.F.Append(x, m.grad)
	}
	return entered, nil
}

// A Linear is a linear model f = Wφ of P features φ.
type Linear struct {
	W      []float64 // C×P
	Scores []float64 // Wφ at the φ of the latest Descend, before its step
	grad   []float64
}

// NewLinear returns the model with the weights w, which it uses without copying.
func NewLinear(outputs int, w []float64) *Linear {
	return &Linear{W: w, Scores: make([]float64, outputs), grad: make([]float64, outputs)}
}

// Descend takes step t on λ/2 ‖W‖² + ℓ: W ← (1 − ηλ)·W − η·ℓ'(Wφ, y)·φᵀ.
func (m *Linear) Descend(t int, d Descent, phi []float64, y float64) error {
	p := len(phi)
	for c := range m.Scores {
		m.Scores[c] = gemm.Dot(m.W[c*p:(c+1)*p], phi)
	}
	rate, err := d.Gradient(t, m.grad, m.Scores, y)
	if err != nil {
		return err
	}
	scale(m.W, 1-float64(rate*d.Lambda))
	for c, g := range m.grad {
		if g != 0 {
			gemm.Axpy(-rate*g, phi, m.W[c*p:(c+1)*p])
		}
	}
	return nil
}

// Gradient sets g to ℓ'(scores, y) and returns the learning rate of step t. It fails if the rate is
// invalid, and with polk.ErrDiverged if the loss, a score or the gradient is not finite.
func (d Descent) Gradient(t int, g, scores []float64, y float64) (rate float64, err error) {
	rate = d.Rates.Rate(t)
	if err := dataset.CheckRate(t, rate, d.Lambda); err != nil {
		return 0, err
	}
	value := d.Loss.Gradient(g, scores, y)
	if value-value != 0 || !Finite(scores) || !Finite(g) {
		return 0, polk.ErrDiverged
	}
	return rate, nil
}

// Finite reports whether no number is NaN or infinite.
func Finite(a []float64) bool {
	return !slices.ContainsFunc(a, func(v float64) bool { return v-v != 0 })
}

func scale(w []float64, factor float64) {
	if factor == 1 {
		return
	}
	for i := range w {
		w[i] *= factor
	}
}
