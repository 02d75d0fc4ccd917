package polk

import (
	"context"
	"fmt"
	"math/rand/v2"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// prune makes the dictionary of f + Σ b.weights κ(b.points, ·) smaller, b the
// batch of the step.
func (l *Learner) prune(ctx context.Context, step prune.Step) error {
	k, b := &l.komp, &l.batch
	if l.t >= l.cfg.FixedFrom && l.t < l.cfg.FixedTo {
		k.absorb(b)
		return nil
	}
	if l.cfg.Pruner == nil {
		k.approximate(b, float64(step.Epsilon*step.Epsilon))
		return nil
	}
	step.Rand = rand.New(rand.NewPCG(l.cfg.Seed, uint64(step.T)))
	var err error
	switch p := l.cfg.Pruner.Pruner.(type) {
	case prune.InversePruner:
		err = l.pruneWithInverse(ctx, p, step)
		l.enterKept()
	case prune.Pruner:
		err = l.pruneWithoutInverse(ctx, p, step)
	}
	l.forget()
	if err != nil {
		return fmt.Errorf("polk: pruner %s: %w", l.cfg.Pruner.Heuristic.Name, err)
	}
	return nil
}

// inverse reports whether the learner keeps K_DD⁻¹.
func (c *Config) inverse() bool { return c.Pruner == nil || c.Pruner.Heuristic.Inverse() }

// An entry is what a pruner can know of how an element came in.
type entry struct {
	step int    // in which it entered
	id   uint64 // what prune.Elements.ID returns
}

// forget forgets the elements that the step has removed.
func (l *Learner) forget() {
	m := l.f.Order()
	if len(l.entries) == m {
		return
	}
	entries := make(map[uint64]entry, m)
	for j := range m {
		id := l.f.Dict.ID(j)
		entries[id] = l.entries[id]
	}
	l.entries = entries
}

// enterKept notes the new elements of a step of a pruner with the inverse that stay:
// they are the last ones of the dictionary.
func (l *Learner) enterKept() {
	kept := l.komp.keptNew
	for i, q := range kept {
		l.enter(q, l.f.Order()-len(kept)+i)
	}
	l.entered += uint64(l.batch.n)
}

// enter notes that new element i of the step is element j of the dictionary.
func (l *Learner) enter(i, j int) {
	l.entries[l.f.Dict.ID(j)] = entry{l.t, l.entered + uint64(i)}
}

// stepState is what states with and without the inverse share.
type stepState struct {
	l    *Learner
	step prune.Step
	dict int // elements before the step
}

func (s *stepState) Step() prune.Step { return s.step }
func (s *stepState) Old() int         { return s.dict }

// Age returns how many steps ago element j entered; new ones are not known yet.
func (s *stepState) Age(j int) int {
	if j >= s.dict {
		return 0
	}
	return s.l.t - s.l.entries[s.l.f.Dict.ID(j)].step
}

// ID counts the elements as they enter.
func (s *stepState) ID(j int) uint64 {
	if j >= s.dict {
		return s.l.entered + uint64(j-s.dict)
	}
	return s.l.entries[s.l.f.Dict.ID(j)].id
}

const absent = "polk: the pruner removes an element that is not present"

// withoutInverse is the state for pruners that need no inverse: all elements are
// in the expansion until the pruner is through.
type withoutInverse struct {
	stepState
	present []bool
	left    int
	samples []int // positions of the new elements in the mini-batch
	x       []float64
	row     []float64
}

var _ prune.State = (*withoutInverse)(nil)

// pruneWithoutInverse lets p prune without an inverse.
func (l *Learner) pruneWithoutInverse(ctx context.Context, p prune.Pruner, step prune.Step) error {
	k, b, c := &l.komp, &l.batch, l.f.Outputs
	k.begin()
	s := &withoutInverse{stepState: stepState{l, step, l.f.Order()}, samples: b.samples}
	for i := range b.n {
		l.f.Append(b.points[i*l.cfg.Dim:(i+1)*l.cfg.Dim], b.weights[i*c:(i+1)*c])
	}
	s.left = l.f.Order()
	k.present = grow(k.present, s.left)
	for j := range k.present {
		k.present[j] = true
	}
	s.present, s.row, s.x = k.present, k.scratch, k.coeffResidual
	err := p.Prune(ctx, s)
	k.present, k.scratch, k.coeffResidual = s.present, s.row, s.x
	for j := s.dict; j < len(s.present); j++ {
		l.enter(j-s.dict, j)
	}
	l.entered += uint64(len(s.present) - s.dict)
	for j := len(s.present) - 1; j >= 0; j-- {
		if !s.present[j] {
			l.f.Remove(j)
		}
	}
	return err
}

func (s *withoutInverse) Total() int              { return len(s.present) }
func (s *withoutInverse) Len() int                { return s.left }
func (s *withoutInverse) Present(j int) bool      { return s.present[j] }
func (s *withoutInverse) Point(j int) []float32   { return s.l.f.Dict.At(j) }
func (s *withoutInverse) Weights(j int) []float64 { return s.l.f.Weights(j) }
func (s *withoutInverse) Norm2(j int) float64     { return sumSquares(s.l.f.Weights(j)) }
func (s *withoutInverse) Self(j int) float64      { return s.l.f.Kernel.Self(s.l.f.Dict.At(j)) }

func (s *withoutInverse) Sample(j int) int {
	if j < s.dict || j-s.dict >= len(s.samples) {
		return -1
	}
	return s.samples[j-s.dict]
}

func (s *withoutInverse) Row(j int) []float64 {
	n, f := len(s.present), s.l.f
	s.row, s.x = grow(s.row, n), grow(s.x, f.Dict.Dim())
	kernel.Widen(s.x, f.Dict.At(j))
	f.Dict.Block64(f.Kernel, 1, s.x, s.row, n, 1)
	s.row[j] = s.Self(j)
	s.l.evals += int64(n)
	return s.row
}

func (s *withoutInverse) Values(x []float32) []float64 {
	n, f, k := len(s.present), s.l.f, &s.l.komp
	k.values, s.x = grow(k.values, n), grow(s.x, len(x))
	kernel.Widen(s.x, x)
	f.Dict.Block64(f.Kernel, 1, s.x, k.values, n, 1)
	s.l.evals += int64(n)
	return k.values
}

func (s *withoutInverse) Drop(j int) {
	if !s.present[j] {
		panic(absent)
	}
	s.present[j] = false
	s.left--
	s.l.komp.removed = append(s.l.komp.removed, j)
}

func (s *withoutInverse) Add(x []float32, w []float64) int {
	s.l.f.Append(x, w)
	s.present = append(s.present, true)
	s.left++
	return len(s.present) - 1
}

// withInverse is the state for pruners that use the inverse: komp in the middle
// of its elimination.
type withInverse struct {
	stepState
	*komp
	b *batch
}

var _ prune.InverseState = (*withInverse)(nil)

// pruneWithInverse lets p prune with the inverse at hand.
func (l *Learner) pruneWithInverse(ctx context.Context, p prune.InversePruner, step prune.Step) error {
	k, b := &l.komp, &l.batch
	k.begin()
	if b.n == 0 {
		k.removable(0) // finds out whether the weights must be refined
	}
	return k.project(b, func() error {
		return p.Prune(ctx, &withInverse{stepState{l, step, k.inverse.order}, k, b}) // not the order of step: a repair may have taken elements out
	})
}

// Cheapest falls back on all costs where none is a number.
func (s *withInverse) Cheapest() int {
	if j := s.cheapest(); j >= 0 {
		return j
	}
	return prune.Least(s, s.Cost)
}

// current returns j, with all removals applied to it.
func (s *withInverse) current(j int) int {
	if s.present[j] && s.applied[j] < s.taken {
		s.catchUp(j)
	}
	return j
}

func (s *withInverse) Total() int             { return s.dict + s.b.n }
func (s *withInverse) Len() int               { return s.left }
func (s *withInverse) Present(j int) bool     { return s.present[j] }
func (s *withInverse) Norm2(j int) float64    { return s.norm2[s.current(j)] }
func (s *withInverse) Cost(j int) float64     { return s.cost(s.current(j)) }
func (s *withInverse) Spent() float64         { return s.spent }
func (s *withInverse) Distance(j int) float64 { return 1 / s.invDiag[s.current(j)] }

func (s *withInverse) Weights(j int) []float64 {
	c := s.f.Outputs
	return s.weights[s.current(j)*c : (j+1)*c]
}

func (s *withInverse) Point(j int) []float32 {
	if j < s.dict {
		return s.f.Dict.At(j)
	}
	dim := s.f.Dict.Dim()
	return s.b.points[(j-s.dict)*dim : (j-s.dict+1)*dim]
}

func (s *withInverse) Sample(j int) int {
	if j < s.dict {
		return -1
	}
	return s.b.samples[j-s.dict]
}

func (s *withInverse) Self(j int) float64 {
	if j < s.dict {
		return s.inverse.self[j] - s.ridge
	}
	return s.b.gram[(j-s.dict)*(s.b.n+1)] - s.ridge
}

func (s *withInverse) Row(j int) []float64 {
	m, n := s.dict, s.b.n
	s.scratch = grow(s.scratch, m+n)
	row := s.scratch
	if j < m {
		copy(row, s.inverse.gramRow(j))
		for i := range n {
			row[m+i] = s.b.toDict[i*m+j]
		}
	} else {
		copy(row, s.b.toDict[(j-m)*m:(j-m+1)*m])
		copy(row[m:], s.b.gram[(j-m)*n:(j-m+1)*n])
	}
	row[j] = s.Self(j)
	return row
}

func (s *withInverse) Remove(j int) {
	if !s.present[j] {
		panic(absent)
	}
	s.spent += s.Cost(j)
	s.eliminate(s.b, j)
}

// Drop is the elimination of an element whose weights are zero.
func (s *withInverse) Drop(j int) {
	if !s.present[j] {
		panic(absent)
	}
	w := s.Weights(j)
	if s.illConditioned { // the weights are refined to what is left of f̃ without the element
		for i, v := range s.Row(j) {
			if i == j {
				v += s.ridge
			}
			axpy(-v, w, s.target[i*len(w):(i+1)*len(w)])
		}
	}
	axpy(-1, w, s.startWeights(j)) // for an element that enters later
	clear(w)
	s.norm2[j] = 0
	s.eliminate(s.b, j)
}

// DistanceBefore is the last pivot of a Cholesky factorization of S over the
// new elements up to j.
func (s *withInverse) DistanceBefore(j int) float64 {
	m, n := s.dict, s.b.n
	if j < m || len(s.goneOld) > 0 {
		panic("polk: DistanceBefore is for new elements, before an old one is removed")
	}
	rows := make([]int, 0, n)
	for i := range j - m {
		if s.present[m+i] {
			rows = append(rows, i)
		}
	}
	rows = append(rows, j-m)
	r := len(rows)
	a := make([]float64, r*r)
	for i, p := range rows {
		for q, o := range rows {
			a[i*r+q] = s.schur[p*n+o]
		}
	}
	cholesky(a, r)
	return a[r*r-1] * a[r*r-1]
}

// Column forms a column of Q = P̂ + R̂ᵀR̂.
func (s *withInverse) Column(dst []float64, j int) {
	m := s.dict
	clear(dst)
	if j < m {
		v := dst[:m]
		s.inverse.column(v, j)
		for i := range s.goneOld {
			past := s.goneCols[i*m : (i+1)*m]
			gemm.Axpy(-past[j], past, v)
		}
	}
	for i := range s.newRows.rows {
		row := s.newRows.row(i)
		axpy(row[j], row, dst)
	}
	for i, on := range s.present {
		if !on {
			dst[i] = 0
		}
	}
}
