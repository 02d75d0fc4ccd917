package literal

import (
	"context"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk/prune"
)

// A Learner is POLK with any pruner. It computes kernel values one at a time, inverses with
// gonum wherever they are needed, and the weights of a refit with Pursuit. Its dictionary has
// the order of polk.Learner's, because heuristics break ties by this order.
type Learner struct {
	Kernel      kernel.Kernel
	Loss        loss.Loss
	Classes     int
	Regularizer float64
	Rate        float64 // constant
	Epsilon     float64
	Pruner      *prune.Instance
	Seed        uint64

	D []Element // dictionary
	t int

	entered uint64 // number of new elements so far
}

// An Element is an element of a dictionary or of a step.
type Element struct {
	X  []float32
	W  []float64
	ID uint64

	born   int       // step in which it entered
	sample int       // position in the mini-batch, −1 if this step has no sample for it
	start  []float64 // weights in f̃, minus those that were dropped
	gone   bool
}

// Expansion returns the functions on points of the given dimension.
func (l *Learner) Expansion(dim int) *kernel.Expansion {
	f := kernel.NewExpansion(l.Kernel, dim, l.Loss.Outputs(l.Classes))
	for _, d := range l.D {
		f.Append(d.X, d.W)
	}
	return f
}

// Step does what polk.Learner.Step does.
func (l *Learner) Step(n, dim int, x []float32, y []float64) error {
	s := &state{l: l, old: len(l.D)}
	f := Algorithm2(l.Expansion(dim), l.Loss, l.Rate, l.Regularizer, n, x, y)
	for j, d := range l.D {
		w := f.Weights(j)
		s.d = append(s.d, Element{X: d.X, W: w, ID: d.ID, born: d.born, sample: -1, start: slices.Clone(w)})
	}
	for i := range n {
		j := s.old + i
		if w := f.Weights(j); slices.ContainsFunc(w, func(v float64) bool { return v != 0 }) {
			s.add(f.Dict.At(j), w, i)
		}
	}
	s.step = prune.Step{
		T: l.t, Len: len(s.d), N: n, X: x, Y: y, Rate: l.Rate, Epsilon: l.Epsilon, Kernel: l.Kernel,
		Loss: l.Loss, Outputs: f.Outputs,
		Rand: rand.New(rand.NewPCG(l.Seed, uint64(l.t))),
	}
	err := Prune(context.Background(), l.Pruner, s)
	l.take(s)
	l.t++
	return err
}

// take makes the present elements of s the dictionary. The last element takes the place of a
// removed one. For a pruner with the inverse, the new elements are appended after that.
func (l *Learner) take(s *state) {
	first := len(s.d)
	if l.Pruner.Heuristic.Inverse() {
		first = s.old
	}
	d := slices.Clone(s.d[:first])
	for j := first - 1; j >= 0; j-- {
		if d[j].gone {
			d[j] = d[len(d)-1]
			d = d[:len(d)-1]
		}
	}
	l.D = append(d, slices.DeleteFunc(s.d[first:], func(e Element) bool { return e.gone })...)
	l.entered += uint64(len(s.d) - s.old)
}

// A State is the state for pruners with and without the inverse. It computes every quantity by
// its definition.
type State interface {
	prune.State
	prune.InverseState
}

// Prune runs a pruner of either kind on a state.
func Prune(ctx context.Context, p *prune.Instance, s State) error {
	if p, ok := p.Pruner.(prune.InversePruner); ok {
		return p.Prune(ctx, s)
	}
	return p.Pruner.(prune.Pruner).Prune(ctx, s)
}

type state struct {
	l     *Learner
	step  prune.Step
	old   int
	d     []Element
	spent float64

	inv *mat.Dense // result of inverted; nil if it must be recomputed
}

// NewState returns the state of f̃ = Σ_j w_j κ(x_j, ·) for a pruner. The first old elements are
// those of the dictionary; age holds their ages in steps. The others are the mini-batch's samples
// in order. The ID of an element is its number.
func NewState(p *prune.Instance, step prune.Step, old int, x [][]float32, w [][]float64, age []int) State {
	s := &state{l: &Learner{Kernel: step.Kernel, Loss: step.Loss, Pruner: p, t: step.T, entered: uint64(old)}, step: step, old: old}
	for j := range x {
		s.add(x[j], slices.Clone(w[j]), max(j-old, -1))
		s.d[j].ID = uint64(j)
		if j < old {
			s.d[j].born -= age[j]
		}
	}
	return s
}

func (s *state) add(x []float32, w []float64, sample int) int {
	id := s.l.entered + uint64(len(s.d)-s.old)
	s.d = append(s.d, Element{X: x, W: w, ID: id, born: s.l.t, sample: sample, start: slices.Clone(w)})
	s.inv = nil
	return len(s.d) - 1
}

func (s *state) Step() prune.Step        { return s.step }
func (s *state) Old() int                { return s.old }
func (s *state) Total() int              { return len(s.d) }
func (s *state) Len() int                { return len(s.present()) }
func (s *state) Present(j int) bool      { return !s.d[j].gone }
func (s *state) Point(j int) []float32   { return s.d[j].X }
func (s *state) Weights(j int) []float64 { return s.d[j].W }
func (s *state) Age(j int) int           { return s.l.t - s.d[j].born }
func (s *state) ID(j int) uint64         { return s.d[j].ID }
func (s *state) Sample(j int) int        { return s.d[j].sample }
func (s *state) Self(j int) float64      { return s.l.Kernel.Self(s.d[j].X) }
func (s *state) Spent() float64          { return s.spent }
func (s *state) Norm2(j int) float64     { return floats.Dot(s.d[j].W, s.d[j].W) }
func (s *state) Row(j int) []float64     { return s.Values(s.d[j].X) }
func (s *state) Cost(j int) float64      { return s.Norm2(j) * s.Distance(j) }
func (s *state) Distance(j int) float64  { return 1 / s.inverted().At(j, j) }
func (s *state) Cheapest() int           { return prune.Least(s, s.Cost) }

func (s *state) Add(x []float32, w []float64) int {
	return s.add(slices.Clone(x), slices.Clone(w), -1)
}

func (s *state) Values(x []float32) []float64 {
	v := make([]float64, len(s.d))
	for i := range v {
		v[i] = s.l.Kernel.Eval(x, s.d[i].X)
	}
	return v
}

func (s *state) Enter(points ...[]float32) (numbers []int) {
	for _, x := range points {
		j := s.add(slices.Clone(x), make([]float64, s.step.Outputs), -1)
		if s.Distance(j) > prune.Distinct*s.Self(j) {
			numbers = append(numbers, j)
			s.refit()
			continue
		}
		numbers = append(numbers, -1)
		s.d, s.inv = s.d[:j], nil
	}
	return numbers
}

// refit gives the present elements the weights of the best approximation of f̃.
func (s *state) refit() {
	start := mat.NewDense(len(s.d), s.step.Outputs, nil)
	for j, d := range s.d {
		start.SetRow(j, d.start)
	}
	p := &Pursuit{s.gram(func(int) bool { return true }), start, true}
	is := s.present()
	if len(is) > 0 {
		if _, ok := p.factorize(is); !ok {
			return // duplicate or non-finite points: no weights are best
		}
	}
	gamma, w := p.Approximate(is)
	s.spent = gamma * gamma
	for _, j := range is {
		s.d[j].W = w.RawRowView(j)
	}
}

// Drop removes element j and takes its weights out of f̃.
func (s *state) Drop(j int) {
	for c, v := range s.d[j].W {
		s.d[j].start[c] -= v
	}
	s.leave(j)
}

func (s *state) leave(j int) {
	if s.d[j].gone {
		panic("literal: an element is removed that is not present")
	}
	s.d[j].gone, s.inv = true, nil
}

// present returns the present elements.
func (s *state) present() []int {
	var is []int
	for i := range s.d {
		if s.Present(i) {
			is = append(is, i)
		}
	}
	return is
}

// gram returns K, with the rows and columns of the unit matrix for elements that are left out.
func (s *state) gram(in func(j int) bool) *mat.Dense {
	k := mat.NewDense(len(s.d), len(s.d), nil)
	for i, a := range s.d {
		k.Set(i, i, 1)
		for j, b := range s.d {
			if in(i) && in(j) {
				k.Set(i, j, s.l.Kernel.Eval(a.X, b.X))
			}
		}
		if in(i) {
			k.Set(i, i, k.At(i, i)+s.l.Pruner.Ridge())
		}
	}
	return k
}

// inverse returns the inverse of gram, whatever its condition number; zeros if there is none.
func (s *state) inverse(in func(j int) bool) *mat.Dense {
	var p mat.Dense
	if err := p.Inverse(s.gram(in)); err != nil && p.IsEmpty() {
		p.CloneFrom(mat.NewDense(len(s.d), len(s.d), nil))
	}
	return &p
}

// inverted returns the inverse over the present elements.
func (s *state) inverted() *mat.Dense {
	if s.inv == nil {
		s.inv = s.inverse(s.Present)
	}
	return s.inv
}

func (s *state) Column(dst []float64, j int) {
	if mat.Col(dst, j, s.inverted()); s.d[j].gone {
		clear(dst)
	}
}

func (s *state) DistanceBefore(j int) float64 {
	return 1 / s.inverse(func(i int) bool { return i == j || i < j && s.Present(i) }).At(j, j)
}

func (s *state) Remove(j int) {
	s.leave(j)
	s.refit()
}
