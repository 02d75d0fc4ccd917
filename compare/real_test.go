package compare

import (
	"context"
	"slices"
	"testing"

	"polkrepro/harness"
	"polkrepro/internal/testutil"
	"polkrepro/polk/prune"
	"polkrepro/record"
	"polkrepro/spec"
)

// This heuristic is known nowhere else, so its runs in comparisons show that registering a
// heuristic is enough. It is komp-order, but one time in five it removes a random element instead
// of the cheapest.
func init() {
	prune.Register(prune.Heuristic{
		Name: "test-worse", Identity: "test", About: "removes a random element in one of five cases, in a test", Params: []prune.Param{prune.Order},
		NewInverse: func(p prune.Params) prune.InversePruner { return worse{p.Int("order")} },
	})
}

type worse struct{ order int }

func (p worse) Prune(_ context.Context, s prune.InverseState) error {
	r := s.Step().Rand
	for s.Len() > p.order {
		j := prune.Least(s, s.Cost)
		if r.Float64() < 0.2 {
			j = prune.Least(s, func(int) float64 { return r.Float64() })
		}
		s.Remove(j)
	}
	return nil
}

// TestRegisteredTakesPart checks that a registered heuristic is in the project's comparison, on
// every data set, with no other change.
func TestRegisteredTakesPart(t *testing.T) {
	tour, err := spec.FindComparison("")
	testutil.NoError(t, err)
	plan, err := tour.Plan(spec.ProfileFull)
	testutil.NoError(t, err)
	for _, f := range tour.DataSets {
		if !slices.ContainsFunc(plan, func(c spec.ComparedRun) bool { return c.DataSet == f.Name && c.Heuristic == "test-worse" }) {
			t.Errorf("%s: test-worse does not take part", f.Name)
		}
	}
}

// TestWorseCopyIsWorse runs a comparison, which must find komp-order with one random removal in
// five worse than komp-order.
func TestWorseCopyIsWorse(t *testing.T) {
	tour, plan := planned(t, `orders: [16], values: {order: [16]}`, `data: {name: multidist}
kernel: {type: gaussian, bandwidth: 0.6}
defaults: {polk: {learning_rate: 6, batch_size: 32}}
stopping: {samples: 640}
evaluation: {every: 640}
repeats: {seeds: 10}`, "komp-order", "test-worse")
	dir := t.TempDir()
	if _, err := harness.Reproduce(t.Context(), Runs(plan), harness.Options{Results: dir}); err != nil {
		t.Fatal(err)
	}
	have, err := record.ReadDir(harness.RecordsDir(dir))
	testutil.NoError(t, err)
	c := New(tour, spec.ProfileSmoke, plan, have.Records).DataSets[0].Entries[1].Compared[ErrorAtOrder]
	t.Logf("20 %% random removals: %+.2f points, 95 %% interval %+.2f to %+.2f, p %.2g", c.Difference, c.Low, c.High, c.P)
	if c.Verdict != Worse {
		t.Errorf("20 %% random removals are called %s: %+v", c.Verdict, c)
	}
}
