package polk

import (
	"context"

	"polkrepro/internal/gemm"
	"polkrepro/polk/prune"
)

// refitted is the state for pruners that use the inverse: komp in the middle
// of its elimination.
type refitted struct {
	common
	*komp
	b *batch
}

var _ prune.State = (*refitted)(nil)

// prune lets p prune f + Σ b.w κ(b.x, ·) with the inverse at hand.
func (k *komp) prune(ctx context.Context, b *batch, p *prune.Instance, c common) error {
	k.begin()
	for i := range b.m {
		b.kxx[i*b.m+i] += k.ridge
	}
	if b.m == 0 {
		k.removable(0) // finds out whether the weights are to be refitted
	}
	k.enter(b)
	k.enterNew(b, 0)
	k.enterAll(b.m)
	c.dict = k.g.m // a repair may have taken elements out
	before := k.left
	err := p.Prune(ctx, &refitted{c, k, b})
	changed := b.m > 0 || k.left < before
	k.commit(b)
	if k.refits && changed {
		k.refit()
	}
	return err
}

func (s *refitted) Total() int              { return s.g.m + s.b.m }
func (s *refitted) Len() int                { return s.left }
func (s *refitted) Present(j int) bool      { return s.alive[j] }
func (s *refitted) Norm2(j int) float64     { return s.w2[j] }
func (s *refitted) Cost(j int) float64      { return s.w2[j] / s.q[j] }
func (s *refitted) Spent() float64          { return s.err2 }
func (s *refitted) Distance(j int) float64  { return 1 / s.q[j] }
func (s *refitted) Weights(j int) []float64 { return s.w[j*s.f.Outputs : (j+1)*s.f.Outputs] }

func (s *refitted) Point(j int) []float32 {
	if j < s.dict {
		return s.f.Dict.At(j)
	}
	dim := s.f.Dict.Dim()
	return s.b.x[(j-s.dict)*dim : (j-s.dict+1)*dim]
}

func (s *refitted) Sample(j int) int {
	if j < s.dict {
		return -1
	}
	return s.b.orig[j-s.dict]
}

func (s *refitted) Self(j int) float64 {
	if j < s.dict {
		return s.g.self[j] - s.ridge
	}
	return s.b.kxx[(j-s.dict)*(s.b.m+1)] - s.ridge
}

func (s *refitted) Row(j int) []float64 {
	m, n := s.dict, s.b.m
	s.komp.row = grow(s.komp.row, m+n)
	row := s.komp.row
	if j < m {
		copy(row, s.g.rowK(j))
		for i := range n {
			row[m+i] = s.b.kx[i*m+j]
		}
	} else {
		copy(row, s.b.kx[(j-m)*m:(j-m+1)*m])
		copy(row[m:], s.b.kxx[(j-m)*n:(j-m+1)*n])
	}
	row[j] = s.Self(j)
	return row
}

func (s *refitted) Remove(j int) {
	if !s.alive[j] {
		panic(absent)
	}
	s.err2 += s.Cost(j)
	s.eliminate(s.b, j)
}

// Drop is the elimination of an element whose weights are zero.
func (s *refitted) Drop(j int) {
	if !s.alive[j] {
		panic(absent)
	}
	w := s.Weights(j)
	if s.refits {
		for i, v := range s.Row(j) {
			if i == j {
				v += s.ridge
			}
			axpy(-v, w, s.values[i*len(w):(i+1)*len(w)])
		}
	}
	clear(w)
	s.w2[j] = 0
	s.eliminate(s.b, j)
}

func (s *refitted) Add([]float32, []float64) int {
	panic("polk: the pruner adds an element, which its heuristic excludes (Inverse)")
}

// DistanceBefore is the last pivot of a Cholesky factorization of S over the
// new elements up to j.
func (s *refitted) DistanceBefore(j int) float64 {
	m, n := s.dict, s.b.m
	if j < m || len(s.order) > 0 {
		panic("polk: DistanceBefore is for new elements, before an old one is removed")
	}
	rows := make([]int, 0, n)
	for i := range j - m {
		if s.alive[m+i] {
			rows = append(rows, i)
		}
	}
	rows = append(rows, j-m)
	r := len(rows)
	a := make([]float64, r*r)
	for i, p := range rows {
		for q, o := range rows {
			a[i*r+q] = s.s[p*n+o]
		}
	}
	cholesky(a, r)
	return a[r*r-1] * a[r*r-1]
}

func (s *refitted) Column(dst []float64, j int) {
	m := s.dict
	clear(dst)
	if j < m {
		v := dst[:m]
		s.g.column(v, j)
		for i := range s.order {
			past := s.v[i*m : (i+1)*m]
			gemm.Axpy(-past[j], past, v)
		}
	}
	for i := range s.r.n {
		row := s.r.row(i)
		axpy(row[j], row, dst)
	}
	for i, on := range s.alive {
		if !on {
			dst[i] = 0
		}
	}
}
