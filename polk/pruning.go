package polk

import (
	"context"
	"fmt"
	"math/rand/v2"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// prune makes the dictionary of f + Σ b.weights κ(b.points, ·) smaller, where b is the batch of
// the step.
func (l *Learner) prune(ctx context.Context, step prune.Step) error {
	k := &l.komp
	if l.t >= l.cfg.FixedFrom && l.t < l.cfg.FixedTo {
		k.absorb(&l.batch)
		return nil
	}
	if l.cfg.Pruner == nil {
		k.approximate(&l.batch, step.Epsilon)
		return nil
	}
	k.l, k.step = l, step
	k.step.Rand = rand.New(rand.NewPCG(l.cfg.Seed, uint64(step.T)))
	var err error
	switch p := l.cfg.Pruner.Pruner().(type) {
	case prune.InversePruner:
		k.begin(&l.batch)
		err = k.project(func() error {
			k.watched = nil // a step that has been pruned is taken
			return p.Prune(ctx, k)
		})
		if k.abandoned {
			return nil
		}
		for i, q := range k.keptNew { // they are the last elements of the dictionary
			l.entries[l.f.Dict.ID(l.f.Order()-len(k.keptNew)+i)] = k.entry(k.dict + q)
		}
		l.entered += uint64(l.batch.n)
	case prune.Pruner:
		err = l.pruneWithoutInverse(ctx, p)
	}
	l.forget()
	if err != nil {
		return fmt.Errorf("polk: pruner %s: %w", l.cfg.Pruner.Heuristic().Name, err)
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

// forget deletes the entries of the elements that the step has removed.
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

// stepState is the part that states with and without the inverse share: the numbered elements of
// a step. Until its end, the new ones are in the batch.
type stepState struct {
	l       *Learner // nil for the paper's pruner, which does not use it
	step    prune.Step
	b       *batch // elements that the step adds
	dict    int    // M: elements before the step
	present []bool // whether element j has not been removed
	left    int    // number of elements present
	removed []int  // in the order of removal: j < M dictionary elements, M+i sample i of the mini-batch, M−1 points that a pruner had entered

	row    []float64 // M+n: result of Row
	values []float64 // M+n: result of Values
	wide   []float64 // the point of Values, or the points that enter, in float64
}

// number sets the number of elements of a step; all of them are present.
func (s *stepState) number(total int) {
	s.left, s.present = total, grow(s.present, total)
	for j := range s.present {
		s.present[j] = true
	}
}

// leave marks element j as removed and lists it.
func (s *stepState) leave(j int) {
	if !s.present[j] {
		panic("polk: the pruner removes an element that is not present")
	}
	s.present[j] = false
	s.left--
	if j >= s.dict {
		j = s.dict + s.Sample(j)
	}
	s.removed = append(s.removed, j)
}

func (s *stepState) Step() prune.Step   { return s.step }
func (s *stepState) Old() int           { return s.dict }
func (s *stepState) Total() int         { return len(s.present) }
func (s *stepState) Len() int           { return s.left }
func (s *stepState) Present(j int) bool { return s.present[j] }
func (s *stepState) Age(j int) int      { return s.l.t - s.entry(j).Step }
func (s *stepState) ID(j int) uint64    { return s.entry(j).ID }

// entry returns the entry of element j. IDs count elements in the order in which they enter.
func (s *stepState) entry(j int) entry {
	if j >= s.dict {
		return entry{s.l.t, s.l.entered + uint64(j-s.dict)}
	}
	return s.l.entries[s.l.f.Dict.ID(j)]
}

func (s *stepState) Sample(j int) int {
	if j < s.dict {
		return -1
	}
	return s.b.samples[j-s.dict]
}

func (s *stepState) Point(j int) []float32 {
	if j < s.dict {
		return s.l.f.Dict.At(j)
	}
	return s.b.points.At(j - s.dict)
}

// startWeights returns the weights of j in f̃, minus those that a komp's Drop has taken out.
func (s *stepState) startWeights(j int) []float64 {
	if j < s.dict {
		return s.l.f.Weights(j)
	}
	c := s.l.f.Outputs
	return s.b.weights[(j-s.dict)*c : (j-s.dict+1)*c]
}

// Values returns κ between x and all elements.
func (s *stepState) Values(x []float32) []float64 { return s.kernelTo(&s.values, x) }

// kernelTo returns κ between x and all elements, in a buffer.
func (s *stepState) kernelTo(buffer *[]float64, x []float32) []float64 {
	m, n, f := s.dict, s.b.n, s.l.f
	*buffer, s.wide = grow(*buffer, m+n), grow(s.wide, len(x))
	kernel.Widen(s.wide, x)
	f.Dict.Block64(f.Kernel, 1, s.wide, *buffer, m+n, 1)
	s.b.points.Block64(f.Kernel, 1, s.wide, (*buffer)[m:], n, 1)
	s.l.evals += int64(m + n)
	return *buffer
}

// withoutInverse is the state for pruners that need no inverse.
type withoutInverse struct{ *stepState }

// pruneWithoutInverse runs p, which needs no inverse.
func (l *Learner) pruneWithoutInverse(ctx context.Context, p prune.Pruner) error {
	k, b, c := &l.komp, &l.batch, l.f.Outputs
	k.begin(b)
	k.dict = l.f.Order()
	k.number(k.dict + b.n)
	err := p.Prune(ctx, withoutInverse{&k.stepState})
	for i := range b.n {
		l.f.Append(b.points.At(i), b.weights[i*c:(i+1)*c])
		l.entries[l.f.Dict.ID(k.dict+i)] = k.entry(k.dict + i)
	}
	l.entered += uint64(b.n)
	for j := k.Total() - 1; j >= 0; j-- {
		if !k.present[j] {
			l.f.Remove(j)
		}
	}
	return err
}

func (s withoutInverse) Weights(j int) []float64 { return s.startWeights(j) }
func (s withoutInverse) Norm2(j int) float64     { return sumSquares(s.startWeights(j)) }
func (s withoutInverse) Self(j int) float64      { return s.l.f.Kernel.Self(s.Point(j)) }

func (s withoutInverse) Row(j int) []float64 {
	row := s.kernelTo(&s.row, s.Point(j))
	row[j] = s.Self(j)
	return row
}

func (s withoutInverse) Drop(j int) { s.leave(j) }

func (s withoutInverse) Add(x []float32, w []float64) int {
	b, c := s.b, s.l.f.Outputs
	if len(w) != c {
		panic("polk: the pruner adds an element with a wrong number of weights")
	}
	b.points.Append(x)
	b.weights = append(b.weights[:b.n*c], w...)
	b.samples = append(b.samples, -1)
	b.n++
	s.present = append(s.present, true)
	s.left++
	return len(s.present) - 1
}

// The following methods make a komp, during its loop, the prune.InverseState of pruners that use
// the inverse.

func (k *komp) Norm2(j int) float64    { return k.norm2[j] }
func (k *komp) Spent() float64         { return k.spent }
func (k *komp) Distance(j int) float64 { return 1 / k.invDiag[j] }

func (k *komp) Weights(j int) []float64 {
	c := k.f.Outputs
	return k.weights[j*c : (j+1)*c]
}

func (k *komp) Self(j int) float64 { return k.diagonal(j) - k.ridge }

// diagonal returns K_jj, which includes the ridge.
func (k *komp) diagonal(j int) float64 {
	if j < k.dict {
		return k.inverse.self[j]
	}
	return k.b.gram[(j-k.dict)*(k.b.n+1)]
}

func (k *komp) Row(j int) []float64 {
	m, n := k.dict, k.b.n
	k.row = grow(k.row, m+n)
	row := k.row
	if j < m {
		copy(row, k.inverse.gramRow(j))
		for i := range n {
			row[m+i] = k.b.toDict[i*m+j]
		}
	} else {
		copy(row, k.b.toDict[(j-m)*m:(j-m+1)*m])
		copy(row[m:], k.b.gram[(j-m)*n:(j-m+1)*n])
	}
	row[j] = k.Self(j)
	return row
}

// Drop takes the weights of element j out of f̃ and eliminates the element, whose weights are
// then zero.
func (k *komp) Drop(j int) {
	w := k.Weights(j)
	gemm.Axpy(-1, w, k.startWeights(j))
	clear(w)
	k.norm2[j] = 0
	k.eliminate(j)
}

// DistanceBefore returns the last squared pivot of a Cholesky factorization of S over the
// present new elements up to j.
func (k *komp) DistanceBefore(j int) float64 {
	m, n := k.dict, k.b.n
	if j < m || len(k.goneOld) > 0 {
		panic("polk: DistanceBefore is for new elements, before an old one is removed")
	}
	rows := make([]int, 0, n)
	for i := range j - m {
		if k.present[m+i] {
			rows = append(rows, i)
		}
	}
	rows = append(rows, j-m)
	r := len(rows)
	a := make([]float64, r*r)
	for i, p := range rows {
		for q, o := range rows {
			a[i*r+q] = k.schur[p*n+o]
		}
	}
	cholesky(a, r, k.ended)
	return a[r*r-1] * a[r*r-1]
}

// Column writes column j of Q = P̂ + R̂ᵀR̂ to dst.
func (k *komp) Column(dst []float64, j int) {
	m := k.dict
	clear(dst)
	if j < m {
		k.oldColumn(dst[:m], j)
	}
	for i := range k.newRows.rows {
		row := k.newRows.row(i)
		gemm.Axpy(row[j], row, dst)
	}
	for i, on := range k.present {
		if !on {
			dst[i] = 0
		}
	}
}
