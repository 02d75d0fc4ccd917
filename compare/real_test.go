package compare_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"polkrepro/compare"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/polk/prune"
	"polkrepro/record"
)

// Two heuristics that nothing else knows of: that they run in tournaments shows
// that registering one is all it takes. One drops elements at random with a
// random stream of its own, so that it is random under another name; the other is
// komp-order with a random element removed in place of the cheapest one in five.
func init() {
	prune.Register(prune.Heuristic{
		Name: "test-random", About: "drops elements at random, in a test", Params: []prune.Param{prune.Order},
		New: func(p prune.Params) prune.Pruner { return otherRandom{p.Int("order")} },
	})
	prune.Register(prune.Heuristic{
		Name: "test-worse", About: "removes a random element in one of five cases, in a test", Params: []prune.Param{prune.Order},
		NewInverse: func(p prune.Params) prune.InversePruner { return worse{p.Int("order")} },
	})
}

type otherRandom struct{ order int }

func (p otherRandom) Prune(_ context.Context, s prune.State) error {
	r := rand.New(rand.NewPCG(s.Step().Rand.Uint64(), 2016))
	for s.Len() > p.order {
		s.Drop(pick(s, r))
	}
	return nil
}

type worse struct{ order int }

func (p worse) Prune(_ context.Context, s prune.InverseState) error {
	r := s.Step().Rand
	for s.Len() > p.order {
		j := prune.Least(s, s.Cost)
		if r.Float64() < 0.2 {
			j = pick(s, r)
		}
		s.Remove(j)
	}
	return nil
}

// pick returns a present element, each with the same probability.
func pick(s prune.Elements, r *rand.Rand) int {
	return prune.Least(s, func(int) float64 { return r.Float64() })
}

// small is a tournament on short streams of multidist.
const small = `
name: small
title: Small
reference: REFERENCE
fields:
  - name: multidist
    title: multidist
    data: {name: multidist}
    task: ksvm
    bandwidth: 0.6
    learning_rate: 6
    regularizer: 1e-6
    batch_size: 32
    levels: [16]
    budgets: {order: [16], parsimony: [0.04]}
    profiles:
      smoke: {samples: 640, replicates: REPLICATES, every: 640}
`

// carriedOut plans and runs a tournament of a reference and one other.
func carriedOut(t *testing.T, reference, other, replicates string) (*experiments.Tournament, []experiments.Contest, map[string]*record.Record) {
	t.Helper()
	src := strings.NewReplacer("REFERENCE", reference, "REPLICATES", replicates).Replace(small)
	tour, err := experiments.ParseTournament("small.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if tour, err = tour.With([]string{other}); err != nil {
		t.Fatal(err)
	}
	plan, err := tour.Plan(experiments.ProfileSmoke)
	if err != nil {
		t.Fatal(err)
	}
	runs := make([]experiments.Planned, len(plan))
	for i, c := range plan {
		runs[i] = c.Planned
	}
	dir := t.TempDir()
	if _, err := harness.Reproduce(context.Background(), runs, harness.Options{Results: dir}); err != nil {
		t.Fatal(err)
	}
	have, err := record.ReadDir(harness.RecordsDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	return tour, plan, have.Records
}

// TestRegisteredTakesPart: a heuristic that is registered is in the project's
// tournament, on every field, with no other change.
func TestRegisteredTakesPart(t *testing.T) {
	tour, err := experiments.FindTournament("")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := tour.Plan(experiments.ProfileFull)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range tour.Fields {
		if !slices.ContainsFunc(plan, func(c experiments.Contest) bool { return c.Field == f.Name && c.Heuristic == "test-worse" }) {
			t.Errorf("%s: test-worse does not take part", f.Name)
		}
	}
}

// TestWorseCopyIsWorse: komp-order with one removal in five at random is found
// worse than komp-order.
func TestWorseCopyIsWorse(t *testing.T) {
	tour, plan, records := carriedOut(t, "komp-order", "test-worse", "10")
	c := compare.New(tour, experiments.ProfileSmoke, plan, records).Fields[0].Entries[1].Compared[compare.ErrorAtOrder]
	t.Logf("20 %% random removals: %+.2f points, 95 %% interval %+.2f to %+.2f, p %.2g", c.Value, c.Low, c.High, c.Adjusted)
	if c.Verdict != compare.Worse {
		t.Errorf("20 %% random removals are called %s: %+v", c.Verdict, c.Test)
	}
}
