package spec

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/polk/prune"
)

// arena returns a comparison in which new replaces old.
func arena(old, new string) string {
	return strings.Replace(`name: sample
title: A sample
compare:
  reference: komp
  heuristics: [random, none]
  orders: [8, 16]
  values: {order: [8, 16], parsimony: [0.01, 0.04]}
data: {name: multidist, variant: calibrated}
task: ksvm
kernel: {type: gaussian, bandwidth: 0.6}
regularizer: 1e-6
defaults: {polk: {learning_rate: 6, batch_size: 32}}
stopping: {samples: 320}
evaluation: {every: 160, tail: 5, train_limit: 500}
repeats: {draws: calibrated, count: 2, paired: true}
profiles: {quick: {skip: true}, full: {skip: true}}
`, old, new, 1)
}

// TestComparisonPlan checks that all heuristics have the same replicates, and that every
// value of every size parameter has runs.
func TestComparisonPlan(t *testing.T) {
	tour := must(ParseComparison("sample.yaml", []byte(arena("", ""))))
	plan := must(tour.Plan(ProfileSmoke))
	values, replicates := make(map[string][]float64), make(map[string][]data.Ref)
	ids := make(map[string]bool)
	for _, c := range plan {
		if c.ID != ID(c.Run) || ids[c.ID] || c.Run.Seed != uint64(c.Replicate) || c.Run.Params.PrunerName() != c.Heuristic {
			t.Errorf("%+v", c)
		}
		ids[c.ID] = true
		if !slices.Contains(values[c.Heuristic], c.Value) {
			values[c.Heuristic] = append(values[c.Heuristic], c.Value)
		}
		if !slices.Contains(replicates[c.Heuristic], c.Run.Data) {
			replicates[c.Heuristic] = append(replicates[c.Heuristic], c.Run.Data)
		}
	}
	if want := map[string][]float64{"komp": {0.01, 0.04}, "random": {8, 16}, "none": {0}}; !reflect.DeepEqual(values, want) {
		t.Errorf("size parameters %v, want %v", values, want)
	}
	draws := calibratedDraws()
	want := []data.Ref{{Name: "multidist", Variant: "calibrated", Draw: draws[0]}, {Name: "multidist", Variant: "calibrated", Draw: draws[1]}}
	for name, got := range replicates {
		if !slices.Equal(got, want) {
			t.Errorf("%s: data %v, want %v", name, got, want)
		}
	}
	if again, _ := tour.Plan(ProfileSmoke); !reflect.DeepEqual(plan, again) {
		t.Error("two plans differ")
	}
	if none, err := tour.Plan(ProfileFull); len(none) != 0 || err != nil {
		t.Errorf("a profile without runs: %d, %v", len(none), err)
	}
	if _, err := tour.Plan("ful"); err == nil || !strings.Contains(err.Error(), `unknown profile "ful", want one of `) {
		t.Errorf("unknown profile: %v", err)
	}
}

// TestComparisonErrors checks that errors are reported at their positions, including errors of
// the specs that a comparison expands into. TestErrors has more errors of specs.
func TestComparisonErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"name: sample", "name: A b", "name is \"A b\""},
		{"title: A sample", "titel: A sample", "unknown key \"titel\", want one of "},
		{"reference: komp", "reference: kmop", "unknown pruner \"kmop\", want one of "},
		{"random, none", "random, noen", "sample.yaml:5:24: unknown pruner \"noen\", want one of "},
		{"name: multidist, variant: calibrated", "name: glyphs", "data set glyphs is fixed: draws applies only to generated data"},
		{"bandwidth: 0.6", "bandwidth: 0", "sample.yaml:10:37: bandwidth is 0, want more than 0"},
		{"orders: [8, 16]", "orders: [16, 8]", "orders are [16 8]"},
		{"orders: [8, 16]", "orders: []", "orders are []"},
		{"order: [8, 16]", "order: []", "sample.yaml:7:19: the grid of pruner_params is empty"},
		{"order: [8, 16]", "order: [8, 0]", "sample.yaml:7:23: order of pruner random is 0, want at least 1"},
		{"count: 2", "count: 25", "count is 25, want 1 to 24"},
		{"profiles: {quick", "profiles: {quik", "unknown key \"quik\", want one of smoke, quick, full"},
		{"every: 160", "evry: 160", "unknown key \"evry\", want one of "},
		{"  orders:", "  levels: []\n  orders:", "unknown key \"levels\", want one of reference, heuristics, commands, orders, values"},
		{"compare:", "methods: []\ncompare:", "sample.yaml:3:10: a comparison has no methods"},
		{"{order: [8, 16]", "{ordr: [8, 16]", "sample.yaml:7:12: values of \"ordr\": want a heuristic, or a size parameter: "},
		{"paired: true", "paired: true, seeds: 2", "paired draws have the seeds 1, 2, 3 and so on: give draws, and no seeds"},
	} {
		_, err := ParseComparison("sample.yaml", []byte(arena(c.old, c.new)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: %v\nwant %s", c.new, c.old, err, c.want)
		}
	}
}

// TestFindComparison finds comparisons by name and by file. TestPlansAreRecorded checks the
// plans of the embedded comparison.
func TestFindComparison(t *testing.T) {
	own := writeFile(t, t.TempDir(), "own.yaml", arena("", ""))
	for _, name := range []string{"", "pruning", "experiments/pruning.yaml", own} {
		tour := must(FindComparison(name))
		if tour.Reference != prune.KOMP || tour.Heuristics[0] != prune.KOMP {
			t.Errorf("%q: reference %s first of %v", name, tour.Reference, tour.Heuristics)
		}
		if name != own && len(tour.Heuristics) != len(prune.All()) {
			t.Errorf("%q: %d heuristics of %d", name, len(tour.Heuristics), len(prune.All()))
		}
	}
	if _, err := FindComparison("nowhere.yaml"); err == nil {
		t.Error("a file that is not there")
	}
}

// TestWith checks comparisons with other heuristics and with another reference, which comes
// first.
func TestWith(t *testing.T) {
	tour := must(FindComparison(""))
	against, err := tour.Against("merging")
	if err != nil || against.Reference != "merging" || against.Heuristics[0] != "merging" || len(against.Heuristics) != len(tour.Heuristics) {
		t.Errorf("%+v, %v", against, err)
	}
	few, err := against.With([]string{"random", "merging", "random"})
	if err != nil || !slices.Equal(few.Heuristics, []string{"merging", "random"}) {
		t.Errorf("%v, %v", few.Heuristics, err)
	}
	_, err = tour.With([]string{"rendom"})
	_, err2 := tour.Against("rendom")
	for _, err := range []error{err, err2} {
		if err == nil || !strings.Contains(err.Error(), `unknown pruner "rendom"`) {
			t.Errorf("unknown heuristic: %v", err)
		}
	}
}

// TestComparisonCommands: the commands of heuristics may stand in the specs of a file.
func TestComparisonCommands(t *testing.T) {
	const above, below = "compare: {commands: {mine: ./mine.py}}\n", "variants: {a: {compare: {commands: {yours: ./yours.py}}}, b: {}}\n"
	for text, want := range map[string]map[string]string{
		above:         {"mine": "./mine.py"},
		below:         {"yours": "./yours.py"},
		above + below: {"mine": "./mine.py", "yours": "./yours.py"},
	} {
		got, err := ComparisonCommands(writeFile(t, t.TempDir(), "own.yaml", text))
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}
