package polk

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"polkrepro/loss"
	"polkrepro/polk/prune"
)

// after returns a learner after some steps on a mixture, and the mixture.
func after(t *testing.T, cfg Config, steps int) (*Learner, *mixture) {
	t.Helper()
	l, m := mustNew(t, cfg), newMixture(rand.New(rand.NewPCG(57, 4)), 2, 3)
	for range steps {
		m.step(t, 8, l)
	}
	return l, m
}

// TestRemovalWithALostPivot: between two measurements of P, an element whose P_jj has lost all its
// digits can be removed. The weights and P stay finite, and the next measurement finds the fault.
func TestRemovalWithALostPivot(t *testing.T) {
	for _, pivot := range []float64{0, -1e-3} {
		cfg := testConfig(logistic)
		cfg.Pruner = withInverse(t, pruning[prune.InverseState](func(s prune.InverseState) error {
			if s.Step().T == 2 {
				for j := range s.Total() {
					if j == 0 || j >= s.Old() {
						s.Remove(j)
					}
				}
			}
			return nil
		}))
		l, m := after(t, cfg, 2)
		k := &l.komp.dict
		k.inverse.flush(1)
		clear(k.inverse.base.Row(0))
		for i := range k.inverse.order() {
			k.inverse.base.Set(i, 0, 0)
		}
		k.inverse.base.Set(0, 0, pivot)
		k.inverse.readDiagonal()
		k.wait = 1 // no measurement in the next step
		m.step(t, 8, l)
		if k.health.Repairs != 0 || !k.finite() || slices.ContainsFunc(l.f.W, func(w float64) bool { return w-w != 0 }) {
			t.Fatalf("P_00 = %v: %d repairs, P is finite: %v, weights %v", pivot, k.health.Repairs, k.finite(), l.f.W)
		}
		k.wait = 0
		m.step(t, 8, l)
		if res := inverseResidual(l); k.health.Repairs != 1 && !(res < 1e-3) {
			t.Errorf("P_00 = %v: %d repairs, P·K is off by %v", pivot, k.health.Repairs, res)
		}
	}
}

// TestFixedDictionaryWithARidge: with a fixed dictionary, a step leaves the weights and the error that removing
// all new elements leaves, ridge included. P is measured there too.
func TestFixedDictionaryWithARidge(t *testing.T) {
	heuristic := prune.Heuristic{
		Ridge: func(prune.Params) float64 { return 0.1 },
		NewInverse: func(prune.Params) prune.InversePruner {
			return pruning[prune.InverseState](func(s prune.InverseState) error {
				for j := s.Old(); s.Step().T >= 10 && j < s.Total(); j++ {
					s.Remove(j)
				}
				return nil
			})
		},
	}
	cfg := testConfig(logistic)
	cfg.Pruner = instance(t, heuristic)
	removes, m := after(t, cfg, 10)
	cfg.Pruner = instance(t, heuristic)
	cfg.FixedFrom, cfg.FixedTo = 10, 200
	fixed, _ := after(t, cfg, 10)
	for range 5 {
		m.step(t, 8, removes, fixed)
		a, b := removes.Last(), fixed.Last()
		if !(math.Abs(a.Error-b.Error) <= 1e-9*a.Error) || a.Removed != b.Removed {
			t.Errorf("step %d: error %v and %d removed, want %v and %d", fixed.Steps(), b.Error, b.Removed, a.Error, a.Removed)
		}
		for i, w := range removes.f.W {
			if !(math.Abs(fixed.f.W[i]-w) <= 1e-9*(1+math.Abs(w))) {
				t.Fatalf("step %d: weight %d is %v, want %v", fixed.Steps(), i, fixed.f.W[i], w)
			}
		}
	}
	fixed.komp.dict.inverse.flush(1)
	for i := range fixed.f.Order() {
		scale(1.01, fixed.komp.dict.inverse.base.Row(i))
	}
	for range fixed.f.Order() {
		m.step(t, 8, fixed)
	}
	if h := fixed.komp.dict.health; h.Repairs == 0 {
		t.Errorf("P times 1.01: no repair in %d steps: %+v", fixed.f.Order(), h)
	}
}

// TestStepCountsAllRemovals: the model order before a step and the active samples, less
// Step.Removed, are the model order after it. This holds for elements that a repair drops, and for
// pruners that need no inverse.
func TestStepCountsAllRemovals(t *testing.T) {
	cfg := testConfig(loss.MultiLogistic{})
	cfg.Budget = Parsimony(0)
	l, m := after(t, cfg, 2)
	l.komp.dict.inverse.flush(1)
	// A twin of element 0 makes K singular; the corrupted P makes the next measurement repair it.
	twin := l.f.Dict.At(0)
	l.f.Append(twin, make([]float64, 3))
	l.komp.dict.computeK()
	l.komp.dict.inverse.base.Clear()
	l.komp.dict.wait = 0
	before := l.f.Order()
	m.step(t, 8, l)
	if s := l.Last(); l.komp.dict.health.Dropped == 0 || before+s.Active-s.Removed != l.f.Order() {
		t.Errorf("%d elements and %d samples, less %d removed, are %d; %d were dropped", before, s.Active, s.Removed, l.f.Order(), l.komp.dict.health.Dropped)
	}

	// Of the samples of a step, the first meets its margin: the numbers are those of the mini-batch.
	cfg = testConfig(hinge)
	drops := pruning[prune.State](func(s prune.State) error {
		for j := s.Old(); s.Old() > 0 && j < s.Total(); j++ {
			s.Drop(j)
		}
		return nil
	})
	cfg.Pruner = instance(t, prune.Heuristic{New: func(prune.Params) prune.Pruner { return drops }})
	l = mustNew(t, cfg)
	mustStep(t, l, 1, []float32{0, 0}, []float64{0})
	mustStep(t, l, 2, []float32{0, 0, 3, 3}, []float64{0, 1})
	if !slices.Equal(l.komp.removed, []int{2}) {
		t.Errorf("removed %v, want sample 1 after one element, 2", l.komp.removed)
	}
}
