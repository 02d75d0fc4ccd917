package polk

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
	"polkrepro/polk/prune"
)

func mustPruner(t testing.TB, name string, p prune.Params) *prune.Instance {
	t.Helper()
	i, err := prune.Find(name, p)
	testutil.NoError(t, err)
	return i
}

// A learner that gets the paper's pruner by name equals a learner without a pruner, bit for bit.
func TestKOMPByName(t *testing.T) {
	cfg := testConfig(hinge)
	want := mustNew(t, cfg)
	cfg.Pruner = mustPruner(t, prune.KOMP, nil)
	got := mustNew(t, cfg)
	mix := newMixture(rand.New(rand.NewPCG(1, 1)), cfg.Dim, cfg.Classes)
	for range 40 {
		mix.step(t, 16, want, got)
		if !slices.Equal(got.f.W, want.f.W) || got.last != want.last {
			t.Fatalf("step %d: %+v, want %+v", want.t, got.last, want.last)
		}
	}
}

// A step with a fixed dictionary has the result of removing all new elements.
func TestFixedDictionary(t *testing.T) {
	cfg := testConfig(hinge)
	cfg.Pruner = mustPruner(t, "komp-order", prune.Params{"order": 12})
	cfg.FixedFrom, cfg.FixedTo = 5, 20
	got := mustNew(t, cfg)
	cfg.Pruner = withInverse(t, pruning[prune.InverseState](func(s prune.InverseState) error {
		for j := s.Old(); s.Step().T >= 5 && j < s.Total(); j++ {
			s.Remove(j)
		}
		for s.Step().T < 5 && s.Len() > 12 { // as before the dictionary was fixed
			s.Remove(prune.Least(s, s.Cost))
		}
		return nil
	}))
	cfg.FixedFrom, cfg.FixedTo = 0, 0
	want := mustNew(t, cfg)
	mix := newMixture(rand.New(rand.NewPCG(4, 1)), cfg.Dim, cfg.Classes)
	for range 20 {
		mix.step(t, 16, want, got)
		for i, w := range want.f.W {
			if !(math.Abs(got.f.W[i]-w) <= 1e-7*(1+math.Abs(w))) {
				t.Fatalf("step %d: weight %d is %v, want %v", want.t, i, got.f.W[i], w)
			}
		}
		if !(math.Abs(got.last.Error-want.last.Error) <= 1e-6) || got.last.Removed != want.last.Removed {
			t.Fatalf("step %d: %+v, want %+v", want.t, got.last, want.last)
		}
	}
}

// Step returns a pruner's error, and is taken as far as the pruner got.
func TestPrunersError(t *testing.T) {
	errFailing := errors.New("out of ideas")
	fail := func(s prune.Elements) error {
		s.Drop(0)
		return errFailing
	}
	without := pruning[prune.State](func(s prune.State) error { return fail(s) })
	with := pruning[prune.InverseState](func(s prune.InverseState) error { return fail(s) })
	for _, p := range []*prune.Instance{
		instance(t, prune.Heuristic{New: func(prune.Params) prune.Pruner { return without }}), withInverse(t, with),
	} {
		cfg := testConfig(logistic)
		cfg.Pruner = p
		l := mustNew(t, cfg)
		x, y := newMixture(rand.New(rand.NewPCG(3, 1)), cfg.Dim, cfg.Classes).batch(8)
		_, err := l.Step(t.Context(), 8, x, y)
		if !errors.Is(err, errFailing) || !strings.HasPrefix(err.Error(), "polk: pruner own: ") {
			t.Errorf("error %v", err)
		}
		if l.f.Order() != 7 || l.Steps() != 1 || len(l.entries) != 7 {
			t.Errorf("model order %d after %d steps, ages of %d", l.f.Order(), l.Steps(), len(l.entries))
		}
	}
}
