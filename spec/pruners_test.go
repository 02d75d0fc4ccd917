package spec

import (
	"reflect"
	"strings"
	"testing"

	"polkrepro/polk/prune"
)

// pruned returns a spec whose entry for POLK has the given lines.
func pruned(lines string) string {
	return `name: sample
title: A sample
description: For tests
task: ksvm
data: {name: multidist, variant: calibrated}
kernel: {type: gaussian, bandwidth: 0.6}
regularizer: 1e-6
methods:
  - method: polk
    learning_rate: 6
    batch_size: 32
    ` + strings.ReplaceAll(lines, "\n", "\n    ") + `
stopping: {epochs: 1}
evaluation: {every: 160, tail: 5, train_limit: 0}
`
}

func planned(t *testing.T, lines string) []Planned {
	t.Helper()
	s := must(one(Parse("spec.yaml", []byte(pruned(lines)))))
	return planOf(s, ProfileQuick)
}

// A spec that names the paper's pruner plans the same run as a spec that names no pruner.
func TestNamingKOMPChangesNothing(t *testing.T) {
	want, got := planned(t, "parsimony: 0.04"), planned(t, "pruner: komp\nparsimony: 0.04")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
}

func TestGridOfPrunerParams(t *testing.T) {
	plan := planned(t, `pruner: random
grid: {pruner_params: [{order: 8}, {order: 16}]}
points:
  - at: {pruner_params: {order: 16}}
    series: at sixteen`)
	if len(plan) != 2 || plan[0].ID == plan[1].ID {
		t.Fatalf("%+v", plan)
	}
	for i, want := range []prune.Params{{"order": 8}, {"order": 16}} {
		p := plan[i].Run.Params
		if p.Pruner != "random" || !reflect.DeepEqual(p.PrunerParams, want) || p.Parsimony != 0 {
			t.Errorf("run %d: %+v", i, p)
		}
	}
	if plan[0].Series != "POLK, order=8" || plan[1].Series != "at sixteen" {
		t.Errorf("series %q and %q", plan[0].Series, plan[1].Series)
	}
}

// TestPrunerErrors checks errors in pruners and their parameters. TestComplete of package
// prune has more invalid parameters.
func TestPrunerErrors(t *testing.T) {
	for lines, want := range map[string]string{
		"pruner: rendom\npruner_params: {order: 8}": "unknown pruner \"rendom\", want one of ",
		"pruner: random": "pruner random needs the parameter order",
		"pruner: random\npruner_params: {order: many}":                    "\"many\" (text), want a number",
		"pruner: random\npruner_params: [8]":                              "a list, want a mapping",
		"pruner: random\npruner_params: {order: 8}\nparsimony: 1":         "polk uses parsimony only with a pruner that keeps to ε",
		"parsimony: 0.04\npruner_params: {order: 8}":                      "pruner komp takes no parameter order (it takes none)",
		"pruner: random\ngrid: {pruner_params: [{order: 8}, 9]}":          "an integer), want a mapping",
		"pruner: random\ngrid: {pruner_params: [{order: 8}, {}]}":         "pruner random needs the parameter order",
		"pruner: none\nmaintenance: merging":                              "polk takes no maintenance",
		"grid: {pruner: [none, komp]}":                                    "polk needs parsimony",
		"pruner: random\ngrid: {pruner_params: [{order: 8}, {order: 8}]}": "in the grid of pruner_params",
	} {
		_, err := one(Parse("spec.yaml", []byte(pruned(lines))))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", lines, err, want)
		}
	}
}
