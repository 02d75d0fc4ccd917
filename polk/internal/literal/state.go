package literal

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"polkrepro/polk/prune"
)

// A State is the state for pruners with and without the inverse. It computes every quantity by
// its definition: kernel values one at a time, inverses with gonum wherever they are needed, and
// the weights of a refit with Pursuit.
type State interface {
	prune.State
	prune.InverseState
}

type state struct {
	step         prune.Step
	ridge        float64
	old          int
	d            []element
	squaredError float64

	inv *mat.Dense // result of inverted; nil if it must be recomputed
}

type element struct {
	x       []float32
	w       []float64
	id      uint64
	age     int
	sample  int       // position in the mini-batch, −1 if this step has no sample for it
	start   []float64 // weights in f̃, minus those that were dropped
	removed bool
}

// NewState returns the state of f̃ = Σ_j w_j κ(x_j, ·) for a pruner. The first old elements are
// those of the dictionary; age holds their ages in steps. The others are the mini-batch's samples
// in order. The ID of an element is its number.
func NewState(p *prune.Instance, step prune.Step, old int, x [][]float32, w [][]float64, age []int) State {
	s := &state{step: step, ridge: p.Ridge(), old: old}
	for j := range x {
		s.add(x[j], w[j], max(j-old, -1))
		if j < old {
			s.d[j].age = age[j]
		}
	}
	return s
}

// Copy returns the state of the elements of another, in the given order and with their IDs.
func Copy(p *prune.Instance, of prune.Elements, order []int, random *rand.Rand) State {
	s := &state{step: of.Step(), ridge: p.Ridge(), old: of.Old()}
	s.step.Rand = random
	for i, j := range order {
		s.add(of.Point(j), of.Weights(j), of.Sample(j))
		s.d[i].id, s.d[i].age = of.ID(j), of.Age(j)
	}
	return s
}

// add appends a copy of an element that enters. Its ID follows that of the last one.
func (s *state) add(x []float32, w []float64, sample int) int {
	e := element{x: slices.Clone(x), w: slices.Clone(w), sample: sample, start: slices.Clone(w)}
	if n := len(s.d); n > 0 {
		e.id = s.d[n-1].id + 1
	}
	s.d, s.inv = append(s.d, e), nil
	return len(s.d) - 1
}

func (s *state) Step() prune.Step        { return s.step }
func (s *state) Old() int                { return s.old }
func (s *state) Total() int              { return len(s.d) }
func (s *state) Len() int                { return len(s.present()) }
func (s *state) Present(j int) bool      { return !s.d[j].removed }
func (s *state) Point(j int) []float32   { return s.d[j].x }
func (s *state) Weights(j int) []float64 { return s.d[j].w }
func (s *state) Age(j int) int           { return s.d[j].age }
func (s *state) ID(j int) uint64         { return s.d[j].id }
func (s *state) Sample(j int) int        { return s.d[j].sample }
func (s *state) Self(j int) float64      { return s.step.Kernel.Self(s.d[j].x) }
func (s *state) Spent() float64          { return s.squaredError }
func (s *state) Norm2(j int) float64     { return floats.Dot(s.d[j].w, s.d[j].w) }
func (s *state) Row(j int) []float64     { return s.Values(s.d[j].x) }
func (s *state) Cost(j int) float64      { return s.Norm2(j) * s.Distance(j) }
func (s *state) Distance(j int) float64  { return 1 / s.inverted().At(j, j) }
func (s *state) Cheapest() int           { return prune.Least(s, s.Cost) }

func (s *state) Add(x []float32, w []float64) int { return s.add(x, w, -1) }

func (s *state) Values(x []float32) []float64 {
	v := make([]float64, len(s.d))
	for i := range v {
		v[i] = s.step.Kernel.Eval(x, s.d[i].x)
	}
	return v
}

func (s *state) Enter(points ...[]float32) (numbers []int) {
	for _, x := range points {
		j := s.add(x, make([]float64, s.step.Outputs), -1)
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
	s.squaredError = gamma * gamma
	for _, j := range is {
		s.d[j].w = w.RawRowView(j)
	}
}

// Drop removes element j and takes its weights out of f̃.
func (s *state) Drop(j int) {
	for c, v := range s.d[j].w {
		s.d[j].start[c] -= v
	}
	s.leave(j)
}

func (s *state) leave(j int) {
	if s.d[j].removed {
		panic("literal: an element is removed that is not present")
	}
	s.d[j].removed, s.inv = true, nil
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
				k.Set(i, j, s.step.Kernel.Eval(a.x, b.x))
			}
		}
		if in(i) {
			k.Set(i, i, k.At(i, i)+s.ridge)
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
	mat.Col(dst, j, s.inverted())
	if s.d[j].removed {
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
