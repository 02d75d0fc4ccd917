package experiment

import (
	"fmt"
	"math"

	"polkrepro/convergence"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/polk"
)

// A learner takes the steps of a run on training points.
type learner interface {
	// step takes the next step, on training point i.
	step(i int) error
	order() int
	// measure describes f_t.
	measure() convergence.Point
	// summarize fills in what was seen of every step.
	summarize(*convergence.Summary)
}

func newLearner(run convergence.Run, p *problem) (learner, error) {
	if run.Method == convergence.FSGD {
		return newDescent(run, p), nil
	}
	l, err := polk.New(polk.Config{
		Kernel: p.kernel, Loss: p.loss, Classes: p.classes, Dim: p.split.Dim,
		Regularizer: p.lambda, LearningRate: run.Schedule(), Budget: run.Budget(),
	})
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	return &parsimonious{problem: p, Learner: l}, nil
}

// Steps of POLK whose projection error is computed anew: the first of a run,
// where every element is new, and one in so many of the others, a prime so that
// nothing else keeps step with it.
const (
	checkFirst = 500
	checkEvery = 499
)

// parsimonious is POLK.
type parsimonious struct {
	*problem
	*polk.Learner
	since float64 // largest ratio since the last point
	sum   convergence.Summary
}

func (l *parsimonious) order() int { return l.Expansion().Order() }

// step takes the step and compares ‖∇̃ − ∇̂‖ = ‖f̃ − f‖/η_t with ε_t/η_t.
func (l *parsimonious) step(i int) error {
	s, t := l.split, l.Steps()
	var tilde *kernel.Expansion
	if t < checkFirst || t%checkEvery == 0 {
		tilde = unprojected(l.problem, l.Expansion(), i)
	}
	if err := l.Step(1, s.Row(i), s.Y[i:i+1]); err != nil {
		return err
	}
	last := l.Last()
	l.note(last.Error / last.Budget)
	if tilde != nil {
		// The step's rate is known only now.
		scale(tilde, l.lambda, last.Rate)
		direct := math.Sqrt(max(0, difference(tilde, l.Expansion()).NormSq(1))) // rounding may leave less than 0 of nothing
		l.sum.Checked++
		l.sum.Direct = max(l.sum.Direct, direct/last.Budget)
		l.sum.Disagree = max(l.sum.Disagree, math.Abs(direct-last.Error)/last.Budget)
	}
	return nil
}

// note takes in the ratio and the model order of a step.
func (l *parsimonious) note(ratio float64) {
	l.since = max(l.since, ratio)
	l.sum.Ratio = max(l.sum.Ratio, ratio)
	l.sum.MaxOrder = max(l.sum.MaxOrder, l.order())
}

// unprojected returns f_t with −ℓ'(f_t(x_i), y_i) on point i as its last
// element: what scale makes f̃_{t+1} of.
func unprojected(p *problem, f *kernel.Expansion, i int) *kernel.Expansion {
	x := p.split.Row(i)
	scores, grad := make([]float64, f.Outputs), make([]float64, f.Outputs)
	for j := range f.Order() {
		k := f.Kernel.Eval(f.Dict.At(j), x)
		for q, w := range f.Weights(j) {
			scores[q] += k * w
		}
	}
	p.loss.Gradient(grad, scores, p.split.Y[i])
	for q := range grad {
		grad[q] = -grad[q]
	}
	tilde := f.Clone()
	tilde.Append(x, grad)
	return tilde
}

// scale makes f̃ = (1 − ηλ)·f_t − η·ℓ'·κ(x, ·) of what unprojected returned (eq.
// param_tilde).
func scale(f *kernel.Expansion, lambda, rate float64) {
	last := len(f.W) - f.Outputs
	for i := range f.W {
		if i < last {
			f.W[i] *= 1 - rate*lambda
		} else {
			f.W[i] *= rate
		}
	}
}

// difference returns a − b, where the elements of b are among a's: it has the
// elements of a.
func difference(a, b *kernel.Expansion) *kernel.Expansion {
	d := a.Clone()
	at := make(map[uint64]int, b.Order())
	for j := range b.Order() {
		at[b.Dict.ID(j)] = j
	}
	matched := 0
	for j := range d.Order() {
		if k, ok := at[d.Dict.ID(j)]; ok {
			gemm.Axpy(-1, b.Weights(k), d.Weights(j))
			matched++
		}
	}
	if matched < b.Order() { // the new sample was kept, under an ID of its own
		gemm.Axpy(-1, b.Weights(b.Order()-1), d.Weights(d.Order()-1))
	}
	return d
}

func (l *parsimonious) measure() convergence.Point {
	f := l.Expansion()
	point := l.problem.measure(l.values(f), f.NormSq(1))
	point.Order, point.Separation, point.Ratio = f.Order(), separation(f), l.since
	l.since = 0
	return point
}

// separation returns the least ‖κ(d_j, ·) − κ(d_k, ·)‖ of two elements, 0 if
// there are none.
func separation(f *kernel.Expansion) float64 {
	least := math.Inf(1)
	for j := range f.Order() {
		x := f.Dict.At(j)
		for k := range j {
			y := f.Dict.At(k)
			least = min(least, f.Kernel.Self(x)+f.Kernel.Self(y)-2*f.Kernel.Eval(x, y))
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return math.Sqrt(max(0, least))
}

func (l *parsimonious) summarize(s *convergence.Summary) {
	*s = l.sum
	s.Health = l.Health()
}
