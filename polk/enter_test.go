package polk

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"polkrepro/internal/gemm"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// restless is a pruner that enters, removes and drops elements at random until 12 are left. want
// is f̃ minus the dropped parts.
type restless struct {
	t       *testing.T
	want    *kernel.Expansion
	entered int
	refused int
}

func (r *restless) Prune(_ context.Context, s prune.InverseState) error {
	step := s.Step()
	r.want = kernel.NewExpansion(step.Kernel, len(s.Point(0)), step.Outputs)
	for j := range s.Total() {
		r.want.Append(s.Point(j), s.Weights(j))
	}
	for s.Len() > 12 {
		switch step.Rand.IntN(8) {
		case 0:
			r.enter(s, step, pick(s), pick(s))
		case 1:
			j := pick(s)
			w := make([]float64, step.Outputs)
			gemm.Axpy(-1, s.Weights(j), w)
			r.want.Append(s.Point(j), w)
			s.Drop(j)
		default:
			j := s.Cheapest()
			if c, least := s.Cost(j), s.Cost(prune.Least(s, s.Cost)); !(c <= least*(1+1e-12)) {
				r.t.Errorf("the cheapest element costs %v, and there is one of %v", c, least)
			}
			s.Remove(j)
		}
	}
	r.enter(s, step, pick(s), pick(s)) // one that stays
	r.checkSpent(s)
	return nil
}

// checkSpent compares r² with ‖f̃ − f‖² by its definition.
func (r *restless) checkSpent(s prune.InverseState) {
	diff := r.want.Clone()
	for j := range s.Total() {
		if s.Present(j) {
			w := make([]float64, diff.Outputs)
			gemm.Axpy(-1, s.Weights(j), w)
			diff.Append(s.Point(j), w)
		}
	}
	norm2 := diff.NormSq(1)
	if !(math.Abs(norm2-s.Spent()) <= 1e-9*(1+sumSquares(diff.W))) {
		r.t.Errorf("Spent is %v, and ‖f̃ − f‖² %v", s.Spent(), norm2)
	}
}

// enter enters up to three points at once: points between two elements, samples, and duplicates,
// which Enter refuses.
func (r *restless) enter(s prune.InverseState, step prune.Step, a, b int) {
	var points [][]float32
	for n := range 1 + step.Rand.IntN(3) {
		x := append([]float32(nil), step.X[:len(s.Point(a))]...)
		if h := []float32{0.3, 0.5, 0.3}[n]; step.Rand.IntN(3) > 0 {
			for i := range x {
				x[i] = h*s.Point(a)[i] + (1-h)*s.Point(b)[i]
			}
		}
		points = append(points, x)
	}
	exact := s.Spent() == 0
	for i, j := range s.Enter(points...) {
		if exact && j >= 0 && s.Cost(j) != 0 {
			r.t.Errorf("element %d entered while f̃ was represented exactly, and has the cost %v", j, s.Cost(j))
		}
		if j < 0 {
			r.refused++
			continue
		}
		if j < s.Old() || !slices.Equal(s.Point(j), points[i]) || !s.Present(j) {
			r.t.Fatalf("element %d entered for %v", j, points[i])
		}
		r.entered++
	}
}

// A step leaves the projection of f̃ on its elements: f̃ − f is orthogonal to all of them, whatever
// the condition number of the dictionary.
func TestEnter(t *testing.T) {
	for _, bandwidth := range []float64{0.5, 2, 4} {
		r := &restless{t: t}
		cfg := testConfig(logistic)
		cfg.Kernel, cfg.Seed = kernel.Gaussian{Bandwidth: bandwidth}, 5
		cfg.Pruner = withInverse(t, r)
		l := mustNew(t, cfg)
		mix := newMixture(rand.New(rand.NewPCG(4, 1)), cfg.Dim, cfg.Classes)
		worst := 0.0
		for range 60 {
			mix.step(t, 12, l)
			scale := 1 + size(r.want)
			for j := range l.f.Order() {
				d := l.f.Dict.At(j)
				got, want := testutil.Score(l.f, d), testutil.Score(r.want, d)
				for c := range got {
					worst = max(worst, math.Abs(got[c]-want[c])/scale)
				}
			}
		}
		t.Logf("bandwidth %v: %d entered, %d refused, residual %.2g, health %+v", bandwidth, r.entered, r.refused, worst, l.komp.dict.health)
		if !(worst < 1e-9) {
			t.Errorf("bandwidth %v: f̃ and its projection differ by %v at an element", bandwidth, worst)
		}
		if r.entered < 15 || !(bandwidth <= 3) && r.refused == 0 {
			t.Errorf("bandwidth %v: %d elements entered and %d were refused: the test shows little", bandwidth, r.entered, r.refused)
		}
	}
}
