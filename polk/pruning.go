package polk

import (
	"context"
	"fmt"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// prune makes the dictionary of f + Σ w_i κ(x_i, ·), over the new elements of the step, smaller.
func (l *Learner) prune(ctx context.Context, step prune.Step) error {
	k := &l.komp
	if l.t >= l.cfg.FixedFrom && l.t < l.cfg.FixedTo {
		k.absorb()
		return nil
	}
	l.source.Seed(l.cfg.Seed, uint64(step.T))
	k.learner, k.step = l, step
	k.step.Rand = l.rand
	k.begin()
	var err error
	switch p := l.pruner.Pruner().(type) {
	case prune.InversePruner:
		err = k.project(ctx, p)
		if k.abandoned {
			return nil
		}
		for i, q := range k.kept { // they are the last elements of the dictionary
			l.enter(l.f.Order()-len(k.kept)+i, k.order+q)
		}
	case prune.Pruner:
		err = l.pruneWithoutInverse(ctx, p)
	}
	l.entered += uint64(k.in.n)
	l.forget()
	if err != nil {
		return fmt.Errorf("polk: pruner %s: %w", l.pruner.Heuristic().Name, err)
	}
	return nil
}

// inverse reports whether the learner keeps K_DD⁻¹.
func (c *Config) inverse() bool { return c.Pruner == nil || c.Pruner.Heuristic().Inverse() }

// An entry records how an element entered the dictionary, for pruners.
type entry struct {
	Step int    `json:"step"` // the step in which the element entered
	ID   uint64 `json:"id"`   // result of prune.Elements.ID
}

// enter records how element j of the dictionary, number i of the step, entered.
func (l *Learner) enter(j, i int) {
	if l.entries != nil {
		l.entries[l.f.Dict.ID(j)] = l.komp.entry(i)
	}
}

// forget deletes the entries of the elements that the step has removed.
func (l *Learner) forget() {
	m := l.f.Order()
	if l.entries == nil || len(l.entries) == m {
		return
	}
	entries := make(map[uint64]entry, m)
	for j := range m {
		id := l.f.Dict.ID(j)
		entries[id] = l.entries[id]
	}
	l.entries = entries
}

// elements are the numbered elements of a step, for states with and without the inverse. Until the
// end of the step, the new ones are in added.
type elements struct {
	learner   *Learner // nil in Project
	step      prune.Step
	functions *kernel.Expansion
	added     *entering

	order   int    // M: elements before the step
	present []bool // whether element j has not been removed
	left    int    // number of elements present
	removed []int  // in the order of removal: j < M dictionary elements, M+i sample i of the mini-batch, M−1 points that a pruner had entered

	row    []float64 // M+n: result of Row
	values []float64 // M+n: result of Values
	x64    []float64 // the point of Values
}

// number sets the number of elements of a step; all of them are present.
func (s *elements) number(total int) {
	s.left, s.present = total, grow(s.present, total)
	for j := range s.present {
		s.present[j] = true
	}
}

// leave marks element j as removed and lists it.
func (s *elements) leave(j int) {
	if !s.present[j] {
		panic("polk: the pruner removes an element that is not present")
	}
	s.present[j] = false
	s.left--
	if j >= s.order {
		j = s.order + s.Sample(j)
	}
	s.removed = append(s.removed, j)
}

// clearAbsent sets the values of removed elements to 0.
func (s *elements) clearAbsent(values []float64) {
	for j, on := range s.present {
		if !on {
			values[j] = 0
		}
	}
}

func (s *elements) Step() prune.Step   { return s.step }
func (s *elements) Old() int           { return s.order }
func (s *elements) Total() int         { return len(s.present) }
func (s *elements) Len() int           { return s.left }
func (s *elements) Present(j int) bool { return s.present[j] }
func (s *elements) Age(j int) int      { return s.learner.t - s.entry(j).Step }
func (s *elements) ID(j int) uint64    { return s.entry(j).ID }

// entry returns the entry of element j. IDs count elements in the order in which they enter.
func (s *elements) entry(j int) entry {
	if j >= s.order {
		return entry{s.learner.t, s.learner.entered + uint64(j-s.order)}
	}
	return s.learner.entries[s.functions.Dict.ID(j)]
}

func (s *elements) Sample(j int) int {
	if j < s.order {
		return -1
	}
	return s.added.samples[j-s.order]
}

func (s *elements) Point(j int) []float32 {
	if j < s.order {
		return s.functions.Dict.At(j)
	}
	return s.added.points.At(j - s.order)
}

// startWeights returns the weights of j in f̃, minus those that a komp's Drop has taken out.
func (s *elements) startWeights(j int) []float64 {
	if j < s.order {
		return s.functions.Weights(j)
	}
	return s.added.weights.Row(j - s.order)
}

// Values returns κ between x and all elements.
func (s *elements) Values(x []float32) []float64 { return s.kernelTo(&s.values, x) }

// kernelTo returns κ between x and all elements, in a buffer.
func (s *elements) kernelTo(buffer *[]float64, x []float32) []float64 {
	m, total, f := s.order, s.order+s.added.n, s.functions
	*buffer, s.x64 = grow(*buffer, total), grow(s.x64, len(x))
	kernel.Widen(s.x64, x)
	row := gemm.RowOf(*buffer)
	f.Dict.Block64(f.Kernel, gemm.RowOf(s.x64), row.Cols(0, m), 1)
	s.added.points.Block64(f.Kernel, gemm.RowOf(s.x64), row.Cols(m, total), 1)
	s.learner.evals += int64(total)
	return *buffer
}

// withoutInverse is the state for pruners that need no inverse.
type withoutInverse struct{ *elements }

// pruneWithoutInverse runs p, which needs no inverse.
func (l *Learner) pruneWithoutInverse(ctx context.Context, p prune.Pruner) error {
	k, in := &l.komp, &l.komp.in
	k.order = l.f.Order()
	k.number(k.order + in.n)
	err := p.Prune(ctx, withoutInverse{&k.elements})
	for i := range in.n {
		l.f.Append(in.points.At(i), in.weights.Row(i))
		l.enter(k.order+i, k.order+i)
	}
	for j := k.Total() - 1; j >= 0; j-- {
		if !k.present[j] {
			l.f.Remove(j)
		}
	}
	return err
}

func (s withoutInverse) Weights(j int) []float64 { return s.startWeights(j) }
func (s withoutInverse) Norm2(j int) float64     { return sumSquares(s.startWeights(j)) }
func (s withoutInverse) Self(j int) float64      { return s.functions.Kernel.Self(s.Point(j)) }

func (s withoutInverse) Row(j int) []float64 {
	row := s.kernelTo(&s.row, s.Point(j))
	row[j] = s.Self(j)
	return row
}

func (s withoutInverse) Drop(j int) { s.leave(j) }

func (s withoutInverse) Add(x []float32, w []float64) int {
	if len(w) != s.functions.Outputs {
		panic("polk: the pruner adds an element with a wrong number of weights")
	}
	copy(s.added.append(-1, x), w)
	s.present = append(s.present, true)
	s.left++
	return len(s.present) - 1
}
