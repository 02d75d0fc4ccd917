// Package stream implements the common parts of learners that process one sample per step: a
// kernel expansion with its values at the sample, a linear model of explicit features, and a step
// of stochastic gradient descent on either.
package stream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"polkrepro/baselines/internal/dataset"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// ErrDiverged reports a loss that is no longer finite.
var ErrDiverged = errors.New("the loss is no longer finite: the iterates have diverged")

// Samples passes a learner its samples one at a time, and keeps the scores of each sample,
// computed before learning from it. Learners embed Samples.
type Samples struct {
	Threads int   // goroutines a step may use
	Evals   int64 // kernel evaluations so far

	name         string
	dim, classes int // classes is 1 for a regression
	learn        func(x []float32, y float64) error
	scores       []float64
}

// NewSamples returns the Samples of a learner with the kernel k. learn learns from one sample and
// passes the sample's scores to Saw. p holds the problems of the learner's configuration;
// NewSamples adds those of the kernel and the sizes, and fails if there are any.
func NewSamples(p dataset.Problems, k kernel.Kernel, classes, dim int, learn func(x []float32, y float64) error) (Samples, error) {
	p.Model(k, classes, dim)
	return Samples{Threads: 1, name: p.Package, dim: dim, classes: classes, learn: learn}, p.Err()
}

// SetThreads sets the number of goroutines a step may use, at least 1, which is the
// default. The result does not depend on it.
func (s *Samples) SetThreads(n int) { s.Threads = max(n, 1) }

// KernelEvals returns the number of kernel evaluations in steps so far.
func (s *Samples) KernelEvals() int64 { return s.Evals }

// Health returns an empty map: Samples has no counters.
func (s *Samples) Health() map[string]float64 { return map[string]float64{} }

// Saw records the scores of a sample.
func (s *Samples) Saw(scores []float64) { s.scores = append(s.scores, scores...) }

// Step learns from n samples, one after another: x is n×Dim in row-major order, y holds n
// classes, or numbers for a regression. It returns the scores of each sample, computed before
// learning from that sample; they are valid until the next Step. If a sample is invalid, Step fails
// and learns from none. It also fails at the first sample that the learner can't learn from, such
// as one whose loss or scores are not finite, and at the sample before which ctx ends, with the
// context's error. The learner has then learned from the samples before that one, and can go on.
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
	}
	return s.scores, nil
}

// A Model is f = Σ_j w_j κ(d_j, ·) with the buffers of a step. Learners embed it.
type Model struct {
	Samples
	F      *kernel.Expansion
	Scores []float64 // f(x) of the latest Score

	grad, x, row []float64
}

// NewModel returns f = 0, with one function per class. It fails as [NewSamples] does.
func NewModel(p dataset.Problems, k kernel.Kernel, classes, dim int, learn func(x []float32, y float64) error) (*Model, error) {
	s, err := NewSamples(p, k, classes, dim, learn)
	if err != nil {
		return nil, err
	}
	return newModel(s, k), nil
}

// NewRegression returns f = 0, with one function, whose targets are numbers. The configuration
// must be valid.
func NewRegression(name string, k kernel.Kernel, dim int, learn func(x []float32, y float64) error) *Model {
	return newModel(Samples{Threads: 1, name: name, dim: dim, classes: 1, learn: learn}, k)
}

func newModel(s Samples, k kernel.Kernel) *Model {
	return &Model{
		Samples: s, F: kernel.NewExpansion(k, s.dim, s.classes), Scores: make([]float64, s.classes),
		grad: make([]float64, s.classes), x: make([]float64, s.dim),
	}
}

// Expansion returns the current model. It is not a copy: later steps change it.
func (m *Model) Expansion() *kernel.Expansion { return m.F }

// Model returns the Expansion.
func (m *Model) Model() kernel.Model { return m.F }

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

// Descend takes a step on λ/2 Σ_c ‖f_c‖² + ℓ,
//
//	f ← (1 − ηλ)·f − η·ℓ'(f(x), y)·κ(x, ·),
//
// and reports whether x entered the dictionary, which it does unless ℓ' is 0.
func (m *Model) Descend(l loss.Loss, x []float32, y, rate, lambda float64) (entered bool, err error) {
	m.Score(x)
	m.Saw(m.Scores)
	if err := Gradient(l, m.grad, m.Scores, y, rate, lambda); err != nil {
		return false, err
	}
	m.Shrink(1 - float64(rate*lambda))
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

// Descend takes a step on λ/2 ‖W‖² + ℓ: W ← (1 − ηλ)·W − η·ℓ'(Wφ, y)·φᵀ.
func (m *Linear) Descend(l loss.Loss, phi []float64, y, rate, lambda float64) error {
	p := len(phi)
	for c := range m.Scores {
		m.Scores[c] = gemm.Dot(m.W[c*p:(c+1)*p], phi)
	}
	if err := Gradient(l, m.grad, m.Scores, y, rate, lambda); err != nil {
		return err
	}
	scale(m.W, 1-float64(rate*lambda))
	for c, g := range m.grad {
		if g != 0 {
			gemm.Axpy(-rate*g, phi, m.W[c*p:(c+1)*p])
		}
	}
	return nil
}

// Gradient sets g to ℓ'(scores, y), for a step with a rate η > 0 with ηλ < 1. It fails with
// another rate, and with ErrDiverged if the loss, a score or the gradient is not finite.
func Gradient(l loss.Loss, g, scores []float64, y, rate, lambda float64) error {
	if !(rate > 0 && rate*lambda < 1) || math.IsInf(rate, 1) {
		return fmt.Errorf("learning rate %v: must be positive, finite and below 1/λ = %v", rate, 1/lambda)
	}
	if value := l.Gradient(g, scores, y); value-value != 0 || !Finite(scores) || !Finite(g) {
		return ErrDiverged
	}
	return nil
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
