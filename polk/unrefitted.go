package polk

import (
	"context"

	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// unrefitted is the state for pruners that need no inverse: all elements are in
// the expansion until the pruner is through.
type unrefitted struct {
	common
	alive []bool
	left  int
	orig  []int // positions of the new elements in the mini-batch
	x     []float64
	row   []float64
}

var _ prune.State = (*unrefitted)(nil)

// pruneUnrefitted lets p prune without an inverse.
func (l *Learner) pruneUnrefitted(ctx context.Context, p *prune.Instance, step prune.Step) error {
	k, b, c := &l.komp, &l.batch, l.f.Outputs
	k.begin()
	s := &unrefitted{common: l.common(step), orig: b.orig}
	for i := range b.m {
		l.f.Append(b.x[i*l.cfg.Dim:(i+1)*l.cfg.Dim], b.w[i*c:(i+1)*c])
	}
	s.left = l.f.Order()
	k.alive = grow(k.alive, s.left)
	for j := range k.alive {
		k.alive[j] = true
	}
	s.alive, s.row, s.x = k.alive, k.row, k.e
	err := p.Prune(ctx, s)
	k.alive, k.row, k.e = s.alive, s.row, s.x
	for j := len(s.alive) - 1; j >= 0; j-- {
		if !s.alive[j] {
			l.f.Remove(j)
		}
	}
	return err
}

func (s *unrefitted) Total() int              { return len(s.alive) }
func (s *unrefitted) Len() int                { return s.left }
func (s *unrefitted) Present(j int) bool      { return s.alive[j] }
func (s *unrefitted) Point(j int) []float32   { return s.l.f.Dict.At(j) }
func (s *unrefitted) Weights(j int) []float64 { return s.l.f.Weights(j) }
func (s *unrefitted) Norm2(j int) float64     { return sumSquares(s.l.f.Weights(j)) }
func (s *unrefitted) Self(j int) float64      { return s.l.f.Kernel.Self(s.l.f.Dict.At(j)) }

func (s *unrefitted) Sample(j int) int {
	if j < s.dict || j-s.dict >= len(s.orig) {
		return -1
	}
	return s.orig[j-s.dict]
}

func (s *unrefitted) Row(j int) []float64 {
	n, f := len(s.alive), s.l.f
	s.row, s.x = grow(s.row, n), grow(s.x, f.Dict.Dim())
	kernel.Widen(s.x, f.Dict.At(j))
	f.Dict.Block64(f.Kernel, 1, s.x, s.row, n, 1)
	s.row[j] = s.Self(j)
	s.l.evals += int64(n)
	return s.row
}

func (s *unrefitted) Drop(j int) {
	if !s.alive[j] {
		panic(absent)
	}
	s.alive[j] = false
	s.left--
	s.l.komp.removed = append(s.l.komp.removed, j)
}

func (s *unrefitted) Add(x []float32, w []float64) int {
	s.l.f.Append(x, w)
	s.alive = append(s.alive, true)
	s.left++
	return len(s.alive) - 1
}

const noInverse = "polk: the pruner uses the inverse, which its heuristic does not ask for (Inverse)"

func (s *unrefitted) Remove(int)                 { panic(noInverse) }
func (s *unrefitted) Cost(int) float64           { panic(noInverse) }
func (s *unrefitted) Spent() float64             { panic(noInverse) }
func (s *unrefitted) Distance(int) float64       { panic(noInverse) }
func (s *unrefitted) DistanceBefore(int) float64 { panic(noInverse) }
func (s *unrefitted) Column([]float64, int)      { panic(noInverse) }
