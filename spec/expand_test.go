package spec

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// manySpecs declares three parsimony constants of POLK, two budgets of BSGD and a heuristic, on three
// files, with both losses and five seeds.
const manySpecs = `name: many
title: Six methods on three files
task: [ksvm, klr]
data:
  - {train: elm.csv, label: kind, holdout: 0.25}
  - {train: oak.csv, label: kind, holdout: 0.25}
  - {name: yew, train: oak.csv, label: kind, holdout: 0.5}
kernel: {type: gaussian, bandwidth: 0.6}
regularizer: 1e-6
defaults: {polk: {learning_rate: 6, schedule: constant, batch_size: 4}}
methods:
  - {method: polk, grid: {parsimony: [0.01, 0.02, 0.04]}}
  - {method: polk, label: mine, pruner: random, pruner_params: {order: 5}}
  - {method: bsgd, learning_rate: 1, schedule: constant, batch_size: 1, maintenance: merging, grid: {budget: [4, 8]}}
repeats: {seeds: 5}
stopping: {epochs: 2}
`

// TestManySpecs checks the specs and runs of a file that crosses data sets, tasks, methods and seeds.
func TestManySpecs(t *testing.T) {
	dir := writeFiles(t, map[string]string{"elm.csv": ownRows(), "oak.csv": strings.ReplaceAll(ownRows(), ",oak", ",ash")})
	specs := must(LoadFile(writeFile(t, dir, "many.yaml", manySpecs)))
	var names, titles, left []string
	ids := make(map[string]bool)
	for _, s := range specs {
		names, titles = append(names, s.Name), append(titles, s.Title)
		if s.LeftOut != "" {
			left = append(left, s.LeftOut)
		}
		plan := planOf(s, ProfileFull)
		if want := map[string]int{TaskKSVM: 6 * 5, TaskKLR: 4 * 5}[s.Task]; len(plan) != want {
			t.Errorf("%s: %d runs, want %d", s.Name, len(plan), want)
		}
		for _, p := range plan {
			if ids[p.ID] = true; p.Run.Data.Files.SplitSeed != p.Run.Seed {
				t.Errorf("%s: split %d with seed %d", s.Name, p.Run.Data.Files.SplitSeed, p.Run.Seed)
			}
		}
	}
	want := []string{"many-elm-ksvm", "many-elm-klr", "many-oak-ksvm", "many-oak-klr", "many-yew-ksvm", "many-yew-klr"}
	if !slices.Equal(names, want) || titles[1] != "Six methods on three files (elm, klr)" || len(ids) != 3*50 {
		t.Errorf("specs %v, titles %q, %d runs", names, titles, len(ids))
	}
	// --set polk.… changes the entry with that label, not all entries of the method.
	set := must(LoadFile(writeFile(t, dir, "many.yaml", manySpecs), must(ParseOverride("polk.parsimony=0.08"))))
	if got := set[0].Settings(); len(got) != 4 || got[0].Series != "POLK, K = 0.01" && got[1].Label != "mine" {
		t.Errorf("with --set: %v", got)
	}
	if len(left) != 3 || left[0] != "many-elm-klr: bsgd left out, not for task klr" {
		t.Errorf("left out: %q", left)
	}
}

// TestExpand checks variants, exclusions, added methods and keys that null removes.
func TestExpand(t *testing.T) {
	base := strings.Replace(manySpecs, "task: [ksvm, klr]", "", 1)
	base = base[:strings.Index(base, "data:")] + "data: {name: glyphs}\n" + base[strings.Index(base, "kernel:"):]
	for _, c := range []struct{ name, more, want string }{
		{"variants", "variants:\n  soft: {task: klr, title: Soft, methods: [{method: lbfgs}]}\n  5: {task: ksvm}\n",
			"many-soft: Soft, 1 of 1\nmany-5: Six methods on three files (5), 30 of 6\n"},
		{"variants and lists", "task: [ksvm, klr]\nvariants:\n  a: {repeats: null}\n  b: {add_methods: [{method: csvc, cost: 1}]}\n",
			"many-a-ksvm: Six methods on three files (a, ksvm), 6 of 6\nmany-a-klr: Six methods on three files (a, klr), 4 of 4\n" +
				"many-b-ksvm: Six methods on three files (b, ksvm), 31 of 7\nmany-b-klr: Six methods on three files (b, klr), 20 of 4\n"},
		{"exclude", "task: [ksvm, klr, logistic]\nexclude: [{task: logistic}, {task: klr, method: mine}]\n",
			"many-ksvm: Six methods on three files (ksvm), 30 of 6\nmany-klr: Six methods on three files (klr), 15 of 3\n"},
		{"nothing excluded", "task: ksvm\nexclude: [{task: klr}]\n", "many.yaml:15:11: nothing to exclude: no spec of the file has these"},
		{"all excluded", "task: ksvm\nexclude: [{data: glyphs}]\n", "many.yaml:15:10: exclude leaves nothing"},
		{"no variants", "task: ksvm\nvariants: {}\n", "many.yaml:15:11: variants is empty"},
		{"no tasks", "task: []\n", "many.yaml:14:7: task is empty"},
		{"a variant's name", "task: ksvm\nvariants:\n  a: {name: b}\n", "many.yaml:16:7: a variant has no name of its own"},
		{"a method for no task", "task: [ksvm, klr]\nvariants:\n  a: {methods: [{method: krls}]}\n", "many.yaml:16:17: krls fits no task of the list"},
		{"a list outside grid", "task: [ksvm]\nvariants:\n  a: {methods: [{method: bsgd, learning_rate: [1, 2], budget: 4}]}\n", "many.yaml:16:47: a list of values to combine goes under grid: {learning_rate: [...]}"},
		{"a bad variant", "task: ksvm\nvariants:\n  A b: {}\n", `many.yaml:16:3: variant is "A b", want lower-case letters, digits and single hyphens`},
		{"twice the same", "task: [ksvm, ksvm]\n", "many.yaml:1:1: two specs of the file are called many-ksvm: give their data sets different names"},
		{"nothing to add to", "task: ksvm\nadd_methods: [{method: csvc}]\n", "many.yaml:15:14: add_methods adds to the methods of an included file or of the spec that a variant builds on, and there are none: use methods"},
		{"too many", "variants:\n" + many("  v%d: {task: [ksvm, klr]}\n", 251), "many.yaml:265:16: the file has more than 500 specs"},
	} {
		specs, err := Parse("many.yaml", []byte(base+c.more))
		var got strings.Builder
		if err != nil {
			got.WriteString(err.Error())
		}
		for _, s := range specs {
			fmt.Fprintf(&got, "%s: %s, %d of %d\n", s.Name, s.Title, len(planOf(s, ProfileFull)), len(s.Settings()))
		}
		if got.String() != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got.String(), c.want)
		}
	}
}

// many returns n lines.
func many(format string, n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, format, i)
	}
	return s.String()
}
