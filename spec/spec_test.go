package spec

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"polkrepro/experiments"
	"reflect"
	"slices"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/internal/golden"
	"polkrepro/polk/prune"
)

// valid is a valid spec, into which the negative tests put errors.
const valid = `name: sample
title: A sample
task: ksvm
data: {name: multidist}
kernel: {type: gaussian, bandwidth: 0.6}
regularizer: 1e-6
methods:
  - method: polk
    learning_rate: 6
    batch_size: 32
    grid: {parsimony: [1e-4, 0.04]}
    figures: ["2"]
    points:
      - at: {parsimony: 0.04}
        cells: [table2.multidist.ksvm.polk]
  - method: bsgd
    learning_rate: 1
    budget: 16
    maintenance: merging
repeats:
  - {draws: calibrated, count: 2, seeds: 3}
stopping: {epochs: 1}
evaluation: {every: 320, tail: 5, train_limit: 0}
profiles:
  smoke: {only: [polk], stopping: {samples: 100}}
`

// bad lists the errors that a spec can have. Each case replaces a part of the valid spec.
var bad = []struct{ name, old, new string }{
	{"unknown key", "regularizer: 1e-6", "regulariser: 1e-6"},
	{"unknown key far from any", "  - method: bsgd\n", "  - method: bsgd\n    colour: red\n"},
	{"unknown key in a small mapping", "{epochs: 1}", "{minutes: 1}"},
	{"number is text", "learning_rate: 6", "learning_rate: six"},
	{"integer has a fraction", "batch_size: 32", "batch_size: 32.5"},
	{"integer is huge", "budget: 16", "budget: 99999999999999999999"},
	{"integer is too large", "budget: 16", "budget: 2000000000"},
	{"integer of one method is too large", "  - method: bsgd\n", "  - {method: lbfgs-weights, batch_size: 5000, memory: 9223372036854775807}\n  - method: bsgd\n"},
	{"mapping is a scalar", "stopping: {epochs: 1}", "stopping: 1"},
	{"list is a scalar", "parsimony: [1e-4, 0.04]", "parsimony: 0.04"},
	{"value is missing", "    budget: 16", "    budget:"},
	{"list item is missing", "[1e-4, 0.04]", "[1e-4, ~]"},
	{"learning rate too large", "learning_rate: 6", "learning_rate: 1e6"},
	{"learning rate zero", "learning_rate: 6", "learning_rate: 0"},
	{"bandwidth missing", ", bandwidth: 0.6", ""},
	{"kernel unknown", "type: gaussian", "type: gausian"},
	{"kernel parameter of another", "bandwidth: 0.6", "bandwidth: 0.6, degree: 2"},
	{"polynomial without degree", "type: gaussian, bandwidth: 0.6", "type: polynomial, offset: -1"},
	{"merging with a polynomial kernel", "type: gaussian, bandwidth: 0.6", "type: polynomial, offset: 1, degree: 2"},
	{"schedule unknown", "batch_size: 32", "batch_size: 32\n    schedule: linear"},
	{"horizon without schedule", "batch_size: 32", "batch_size: 32\n    horizon: 100"},
	{"several parameters missing", "    learning_rate: 6\n    batch_size: 32\n", ""},
	{"horizon missing", "batch_size: 32", "batch_size: 32\n    schedule: inverse"},
	{"BSGD's own schedule with a rate", "budget: 16", "budget: 16\n    schedule: inverse"},
	{"parameter of another method", "budget: 16", "budget: 16\n    parsimony: 0.1"},
	{"method unknown", "method: polk", "method: plok"},
	{"method missing", "  - method: polk\n    learning_rate: 6", "  - learning_rate: 6"},
	{"method does not fit the task", "task: ksvm", "task: klr"},
	{"method twice", "  - method: bsgd", "  - {method: polk, learning_rate: 6, batch_size: 32, parsimony: 0.1}\n  - method: bsgd"},
	{"methods empty", "methods:", "methods: []\nmethodz:"},
	{"task unknown", "task: ksvm", "task: svm"},
	{"regression of classes", "task: ksvm", "task: squared-error"},
	{"name malformed", "name: sample", "name: A sample"},
	{"title of two lines", "title: A sample", `title: "A\nsample"`},
	{"data set unknown", "name: multidist", "name: mulitdist"},
	{"variant unknown", "{name: multidist}", "{name: multidist, variant: printed}"},
	{"variant of a data set without", "{name: multidist}", "{name: mnist, variant: small}"},
	{"draws of a data set without", "{name: multidist}", "{name: mnist}"},
	{"draws of another variant", "{name: multidist}", "{name: multidist, variant: as-printed}"},
	{"draws misspelt", "draws: calibrated", "draws: calibrate"},
	{"draws zero and twice", "draws: calibrated, count: 2", "draws: [0, 3, 3]"},
	{"count without calibrated", "draws: calibrated", "draws: figure"},
	{"count too large", "count: 2", "count: 2000"},
	{"seeds zero", "seeds: 3", "seeds: 0"},
	{"seeds negative", "seeds: 3", "seeds: [-1]"},
	{"seeds empty", "seeds: 3", "seeds: []"},
	{"feeds unknown", "seeds: 3", "feeds: tables"},
	{"repeats empty", "repeats:\n  - {draws: calibrated, count: 2, seeds: 3}", "repeats: []"},
	{"grid empty", "{parsimony: [1e-4, 0.04]}", "{}"},
	{"grid axis empty", "[1e-4, 0.04]", "[]"},
	{"grid value twice", "[1e-4, 0.04]", "[0.04, 4e-2]"},
	{"grid and beside it", "batch_size: 32", "batch_size: 32\n    parsimony: 0.1"},
	{"grid of what is not taken", "parsimony: [1e-4, 0.04]", "budget: [1, 2]"},
	{"grid of unknown", "parsimony: [1e-4, 0.04]", "parsimonny: [1, 2]"},
	{"grid of rates too large", "budget: 16", "budget: 16\n    grid: {regularizer: [1e-3, 2]}"},
	{"point off the grid", "at: {parsimony: 0.04}", "at: {parsimony: 0.05}"},
	{"point of what is not varied", "at: {parsimony: 0.04}", "at: {batch_size: 32}"},
	{"point without at", "at: {parsimony: 0.04}", "expected_order: 3"},
	{"expected order zero", "at: {parsimony: 0.04}", "at: {parsimony: 0.04}\n        expected_order: 0"},
	{"cell unknown", "table2.multidist.ksvm.polk", "table2.multidist.ksvm.plok"},
	{"cell of another task", "table2.multidist.ksvm.polk", "table2.multidist.klr.polk"},
	{"cell of another method", "table2.multidist.ksvm.polk", "table2.multidist.ksvm.bsgd"},
	{"cell fed by two points", `figures: ["2"]`, "cells: [table2.multidist.ksvm.polk-large]"},
	{"figure unknown", `figures: ["2"]`, `figures: ["9"]`},
	{"figure of another task", `figures: ["2"]`, `figures: ["4"]`},
	{"figure as a number", `figures: ["2"]`, `figures: [2]`},
	{"series with an unknown placeholder", `figures: ["2"]`, `series: "POLK {budget}"`},
	{"series the same twice", `figures: ["2"]`, `series: POLK`},
	{"stopping twice", "{epochs: 1}", "{epochs: 1, samples: 10}"},
	{"stopping empty", "{epochs: 1}", "{}"},
	{"epochs too many", "{epochs: 1}", "{epochs: 1e9}"},
	{"evaluation zero", "every: 320, tail: 5", "every: 0, tail: 0"},
	{"train limit too large", "train_limit: 0", "train_limit: 5001"},
	{"sampling unknown", "task: ksvm", "task: ksvm\nsampling: bootstrap"},
	{"epsilon without use for parsimony", "batch_size: 32", "batch_size: 32\n    epsilon: squared-rate"},
	{"minimizer with every", "train_limit: 0", "train_limit: 0, minimizer: true"},
	{"repeat of an unknown label", "count: 2, seeds: 3", "count: 2, seeds: 3, only: [plok]"},
	{"repeat of no samples", "count: 2, seeds: 3", "count: 2, seeds: 3, samples: 0"},
	{"profile unknown", "smoke: {", "smok: {"},
	{"only unknown", "only: [polk]", "only: [plok]"},
	{"only empty", "only: [polk]", "only: []"},
	{"skip not a truth value", "only: [polk]", "skip: yes"},
	{"duplicate key", "task: ksvm", "task: ksvm\ntask: klr"},
	{"stands in for nothing known", "task: ksvm", "task: ksvm\nstands_in_for: mnits"},
	{"stands in for itself", "task: ksvm", "task: ksvm\nstands_in_for: multidist"},
	{"defaults for no method", "regularizer: 1e-6", "regularizer: 1e-6\ndefaults: {pegasos: {batch_size: 1}}"},
	{"defaults out of range", "    batch_size: 32\n", ""},
	{"include missing", "name: sample", "include: [nothing.yaml]\nname: sample"},
	{"include of the wrong type", "name: sample", "include: 3\nname: sample"},
	{"include outside the folder", "name: sample", "include: [../x.yaml, /etc/passwd]\nname: sample"},
	{"anchor", "regularizer: 1e-6", "regularizer: &l 1e-6"},
	{"merge key", "regularizer: 1e-6", "<<: {regularizer: 1e-6}"},
	{"key that is a list", "regularizer: 1e-6", "[a]: 1"},
	{"two documents", "evaluation:", "---\nevaluation:"},
	{"a directive", "name: sample\n", "# by hand\n\n%YAML 1.1\n---\nname: sample\n"},
	{"not YAML", "{epochs: 1}", "{epochs: 1"},
	{"tab", "regularizer: 1e-6", "\tregularizer: 1e-6"},
	{"control characters are not printed", "task: ksvm", "task: ks\u2028vm # \u200b"},
	{"several at once", "budget: 16\n    maintenance: merging", "budget: 0\n    maintenance: forgetting\n    batch_size: 2"},
	{"a list", valid, "- 1\n- 2\n"},
	{"empty", valid, ""},
	{"not text", valid, "name: \xff\n"},
	{"too large", valid, "# " + strings.Repeat("x", 1<<16)},
}

// TestErrors compares the message of every case with testdata/errors.golden.
// To update the file: go test ./experiments -run TestErrors -update
func TestErrors(t *testing.T) {
	if _, err := one(Parse("spec.yaml", []byte(valid))); err != nil {
		t.Fatalf("the valid spec: %v", err)
	}
	var out strings.Builder
	for _, c := range bad {
		if strings.Count(valid, c.old) != 1 {
			t.Errorf("%s: %q is %d times in the valid spec", c.name, c.old, strings.Count(valid, c.old))
		}
		src := strings.Replace(valid, c.old, c.new, 1)
		if c.name == "defaults out of range" {
			src = strings.Replace(src, "stopping: {epochs: 1}", "defaults: {polk: {batch_size: 0}}\nstopping: {epochs: 1}", 1)
		}
		s, err := one(Parse("spec.yaml", []byte(src)))
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		if s != nil {
			t.Errorf("%s: a spec beside the error", c.name)
		}
		var list Errors
		if !errors.As(err, &list) || len(list) == 0 || list[0].File == "" {
			t.Errorf("%s: error is a %T", c.name, err)
		}
		fmt.Fprintf(&out, "== %s\n%v\n", c.name, err)
	}
	golden.Check(t, "testdata/errors.golden", out.String())
}

// planOf returns a spec's runs in a profile.
func planOf(s *Spec, profile string) []Planned { return must(s.Plan(profile, PlanOptions{})) }

// planOfSpec returns the runs of a named spec in a profile.
func planOfSpec(name, profile string) []Planned { return planOf(must(one(Find(name))), profile) }

// TestPlansAreRecorded compares the number of runs and the sum of their identities without
// their code, for every profile of every spec and of a comparison, with testdata/plans.golden,
// so that no change loses records. A spec that is not in the file is new and is not compared.
// To update the file: go test ./experiments -run TestPlansAreRecorded -update
func TestPlansAreRecorded(t *testing.T) {
	var lines []string
	add := func(name, profile string, plan []Planned) {
		h := sha256.New()
		for _, p := range plan {
			fmt.Fprintln(h, CodelessID(p.Run))
		}
		lines = append(lines, fmt.Sprintf("%s %s %d %x", name, profile, len(plan), h.Sum(nil)[:8]))
	}
	specs := EmbeddedAll()
	tour := must(must(FindComparison("")).With([]string{"komp-order", "komp-merge", "ald", "none", "komp-age"}))
	for _, profile := range Profiles() {
		for _, s := range specs {
			add(s.Name, profile, planOf(s, profile))
		}
		add("comparison", profile, valuesOf(must(tour.Plan(profile)), func(c ComparedRun) Planned { return c.Planned }))
	}
	if *golden.Update {
		golden.Check(t, "testdata/plans.golden", strings.Join(lines, "\n")+"\n")
	}
	recorded := must(os.ReadFile("testdata/plans.golden"))
	for line := range strings.Lines(string(recorded)) {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			t.Errorf("records are lost: %q is no longer so", line)
		}
	}
}

func TestEmbedded(t *testing.T) {
	specs := EmbeddedAll()
	reproduced := Embedded()
	if !slices.IsSortedFunc(specs, func(a, b *Spec) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the specs are not in the order of their names")
	}
	// Specs that test an assumption, specs on data that the paper does not use, and specs
	// of the theorems feed no cell and no figure of the paper.
	assumptions := []string{"multidist-bsgd", "mnist-bsgd", "multidist-modes-5", "multidist-modes-10", "multidist-modes-20", "multidist-modes-30", "brodatz-disjoint", "glyphs-ksvm", "glyphs-klr", "weaves-ksvm", "weaves-klr", "table1", "table1-short"}
	seen := make(map[string]string) // profile and run ID → spec
	for _, s := range specs {
		if s.File != "experiments/"+embeddedSpecs()[s.Name] {
			t.Errorf("spec %s is in %s", s.Name, s.File)
		}
		if s.Description == "" {
			t.Errorf("spec %s has no description", s.Name)
		}
		named := slices.ContainsFunc([]string{"learners-", "fashion-", "letter-", "satimage-", "a9a-", "question-"}, func(p string) bool { return strings.HasPrefix(s.Name, p) })
		if slices.ContainsFunc(reproduced, func(r *Spec) bool { return r.Name == s.Name }) == named {
			t.Errorf("spec %s is run only by its name: %v", s.Name, !named)
		}
		for _, profile := range Profiles() {
			plan := planOf(s, profile)
			if !reflect.DeepEqual(plan, planOf(s, profile)) {
				t.Errorf("%s: two plans of profile %s differ", s.Name, profile)
			}
			byGroup := make(map[string]string)
			for _, p := range plan {
				if wrong := p.Run.Problems(); len(wrong) > 0 {
					t.Errorf("%s, %s: %v", s.Name, p.Label, wrong)
				}
				if p.ID != ID(p.Run) || p.Spec != s.Name || !(p.Cost > 0) || p.Run.Samples < 1 {
					t.Errorf("bad entry %+v", p)
				}
				if other, ok := seen[profile+p.ID]; ok && other != s.Name {
					t.Errorf("run %s is both of %s and of %s", p.ID, s.Name, other)
				}
				seen[profile+p.ID] = s.Name
				if feeds := len(p.Cells)+len(p.Figures) > 0; feeds == (named || slices.Contains(assumptions, s.Name) || strings.HasPrefix(s.Name, "multiverse-")) {
					t.Errorf("%s: a run of %s feeds something: %v", s.Name, p.Series, feeds)
				}
				if old, ok := byGroup[p.Group]; ok && old != p.Series {
					t.Errorf("%s: group %s is series %q and %q", s.Name, p.Group, old, p.Series)
				}
				byGroup[p.Group] = p.Series
			}
		}
	}
}

// sampleRun returns a run as the sample spec plans it, on draw 36.
func sampleRun() Run {
	return Run{
		Data: data.Ref{Name: "multidist", Variant: "calibrated", Draw: 36}, Task: "ksvm", Method: "polk",
		Params: Params{
			Kernel: Kernel{Type: "gaussian", Bandwidth: 0.6}, Regularizer: 1e-6,
			LearningRate: 6, Schedule: "constant", BatchSize: 32, Parsimony: 0.04,
		},
		Seed: 1, Samples: 5000, Evaluation: Evaluation{Every: 320, Tail: 5},
	}
}

// asEmbedded parses a spec as if it were embedded: a user's feeds no cell.
func asEmbedded(text string) (*Spec, error) {
	return one(parseSpecs(source{label: "spec.yaml", id: embeddedID + "spec.yaml", text: []byte(text)}, openEmbedded))
}

// one returns the only spec of a file.
func one(specs []*Spec, err error) (*Spec, error) {
	if err != nil {
		return nil, err
	}
	if len(specs) != 1 {
		return nil, fmt.Errorf("%d specs", len(specs))
	}
	return specs[0], nil
}

// TestPlan checks the plan of the sample spec in detail.
func TestPlan(t *testing.T) {
	s := must(asEmbedded(valid))
	plan := must(s.Plan(ProfileQuick, PlanOptions{}))
	draws := calibratedDraws()
	if len(plan) != 3*2*3 {
		t.Fatalf("%d runs, want 18", len(plan))
	}
	p := plan[6] // second point of POLK's grid, first draw, first seed
	want := Planned{
		Run:  sampleRun(),
		Spec: "sample", Label: "polk", Series: "POLK, K = 0.04",
		Group:   "sample/polk/kernel=gaussian,learning_rate=6,schedule=constant,batch_size=32,parsimony=0.04,regularizer=1e-06,bandwidth=0.6",
		Cells:   []string{"table2.multidist.ksvm.polk"},
		Figures: []string{"2"},
		Cost:    5000 * (2 + elementWork) * defaultOrder,
	}
	want.Run.Data.Draw, want.Run.Code = draws[0], "method polk: version 2"
	want.ID = ID(want.Run)
	if !reflect.DeepEqual(p, want) {
		t.Errorf("got  %+v\nwant %+v", p, want)
	}
	if p := plan[8]; p.Run.Seed != 3 || p.Run.Data.Draw != draws[0] {
		t.Errorf("run 8 has seed %d and draw %d", p.Run.Seed, p.Run.Data.Draw)
	}
	if p := plan[17]; p.Series != "BSGD" || p.Run.Params.BatchSize != 1 || p.Cost != 5000*(2+elementWork)*16 || p.Run.Data.Draw != draws[1] {
		t.Errorf("last run is %+v", p)
	}

	smoke := must(s.Plan(ProfileSmoke, PlanOptions{Seeds: 1}))
	if len(smoke) != 2*2 || smoke[0].Run.Samples != 100 || smoke[0].Run.Seed != 1 {
		t.Errorf("smoke has %d runs, the first %+v", len(smoke), smoke[0].Run)
	}
	for _, c := range []struct {
		profile string
		seeds   int
		want    string
	}{
		{"fast", 0, `unknown profile "fast", want one of smoke, quick, full`},
		{"full", -1, "-1 seeds: want 1 to 10000, or 0 for the spec's own"},
		{"full", 10_000, "spec sample has more than 10000 runs"},
	} {
		if _, err := s.Plan(c.profile, PlanOptions{Seeds: c.seeds}); err == nil || err.Error() != c.want {
			t.Errorf("profile %s, %d seeds: error %v, want %s", c.profile, c.seeds, err, c.want)
		}
	}
}

// TestFeatures checks features that the embedded specs don't use.
func TestFeatures(t *testing.T) {
	s := must(one(Parse("spec.yaml", []byte(`
name: features
title: Features
task: ksvm
data: {name: mnist}
kernel: {type: polynomial, offset: 1, degree: 3}
regularizer: 0.001
defaults:
  polk: {learning_rate: 2, batch_size: 8, schedule: constant}
methods:
  - method: polk
    parsimony: 0.5
    horizon: 100
    grid: {schedule: [constant, inverse], regularizer: [0.01, 0.1]}
    series: "POLK {schedule}, lambda {regularizer}"
  - method: polk
    label: one-by-one
    batch_size: 1
    parsimony: 0.5
  - method: bsgd
    budget: 10
    grid: {maintenance: [removal, projection], schedule: [inverse]}
repeats: [{seeds: [7]}]
stopping: {epochs: 0.0001}
evaluation: {every: 1, tail: 1, train_limit: 10}
profiles:
  full: {evaluation: {every: 2}, only: [one-by-one]}
`))))
	plan := must(s.Plan("quick", PlanOptions{}))
	var got []string
	for _, p := range plan {
		q := p.Run.Params
		got = append(got, fmt.Sprintf("%s: seed %d, %d samples, rate %v, t0 %v, lambda %v, batch %d, degree %d",
			p.Series, p.Run.Seed, p.Run.Samples, q.LearningRate, q.Horizon, q.Regularizer, q.BatchSize, q.Kernel.Degree))
	}
	want := []string{
		"POLK constant, lambda 0.01: seed 7, 6 samples, rate 2, t0 0, lambda 0.01, batch 8, degree 3",
		"POLK constant, lambda 0.1: seed 7, 6 samples, rate 2, t0 0, lambda 0.1, batch 8, degree 3",
		"POLK inverse, lambda 0.01: seed 7, 6 samples, rate 2, t0 100, lambda 0.01, batch 8, degree 3",
		"POLK inverse, lambda 0.1: seed 7, 6 samples, rate 2, t0 100, lambda 0.1, batch 8, degree 3",
		"POLK (one-by-one): seed 7, 6 samples, rate 2, t0 0, lambda 0.001, batch 1, degree 3",
		"BSGD, removal, inverse: seed 7, 6 samples, rate 0, t0 0, lambda 0.001, batch 1, degree 3",
		"BSGD, projection, inverse: seed 7, 6 samples, rate 0, t0 0, lambda 0.001, batch 1, degree 3",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	full, err := s.Plan("full", PlanOptions{})
	if err != nil || len(full) != 1 || full[0].Run.Evaluation != (Evaluation{Every: 2, Tail: 1, TrainLimit: 10}) {
		t.Errorf("full: %+v, %v", full, err)
	}
}

// TestFeedsFilter checks that repeats for cells or figures leave out the grid
// points that feed none.
func TestFeedsFilter(t *testing.T) {
	for _, c := range []struct {
		feeds          string
		runs           int
		cells, figures int // runs that feed any
	}{
		{"both", 9, 3, 6},    // all three points
		{"cells", 3, 3, 0},   // POLK with K = 0.04
		{"figures", 6, 0, 6}, // POLK
	} {
		src := strings.Replace(valid, "count: 2, seeds: 3", "count: 1, seeds: 3, feeds: "+c.feeds, 1)
		s := must(asEmbedded(src))
		plan := must(s.Plan("full", PlanOptions{}))
		cells, figures := 0, 0
		for _, p := range plan {
			cells += len(p.Cells)
			figures += len(p.Figures)
		}
		if len(plan) != c.runs || cells != c.cells || figures != c.figures {
			t.Errorf("feeds %s: %d runs, %d for cells, %d for figures; want %d, %d, %d",
				c.feeds, len(plan), cells, figures, c.runs, c.cells, c.figures)
		}
	}
}

func TestLoadFile(t *testing.T) {
	dir := t.TempDir()
	// A copy of an embedded spec, in a folder without its includes, plans the same runs. They
	// feed nothing, under this name and under another, and no selector of a claim takes them.
	src := string(must(experiments.Files.ReadFile("paper/multidist.yaml")))
	copied := must(LoadFile(writeFile(t, dir, "copy.yaml", src)))
	other := must(LoadFile(writeFile(t, dir, "other.yaml", strings.Replace(src, "name: multidist\n", "name: other\n", 1))))
	for i, s := range slices.Concat(copied, other) {
		original := must(Find("multidist"))[i%len(copied)]
		var want []Planned
		for _, p := range planOf(original, "full") {
			p.Spec, p.Group = s.Name, strings.Replace(p.Group, original.Name, s.Name, 1)
			p.Cells, p.Figures = []string{}, []string{}
			want = append(want, p)
		}
		if i < len(copied) && !s.Apart() || IsEmbedded(s.Name) || len(want) == 0 || !reflect.DeepEqual(planOf(s, "full"), want) {
			t.Errorf("the plan of the copy %s differs, apart from what it feeds", s.Name)
		}
	}
	// Later includes override earlier includes, and the file overrides both. Errors name
	// the file that they are in.
	writeFile(t, dir, "sub/first.yaml", "regularizer: 0.1\nstopping: {samples: 10}\n")
	writeFile(t, dir, "sub/second.yaml", "include: [first.yaml]\nregularizer: 0.2\nkernel: {type: gaussian, bandwidth: 1}\n")
	text := strings.NewReplacer("regularizer: 1e-6\n", "", "type: gaussian, bandwidth: 0.6", "bandwidth: 3",
		"stopping: {epochs: 1}\n", "", "learning_rate: 6", "learning_rate: 4").Replace(valid)
	s := must(one(Find(writeFile(t, dir, "main.yaml", "include: [sub/first.yaml, sub/second.yaml]\n"+text))))
	plan := must(s.Plan("full", PlanOptions{}))
	p := plan[0].Run
	if p.Params.Regularizer != 0.2 || !reflect.DeepEqual(p.Params.Kernel, Kernel{Type: "gaussian", Bandwidth: 3}) || p.Samples != 10 {
		t.Errorf("merged to %+v", p)
	}
	second := writeFile(t, dir, "sub/second.yaml", "include: [../main.yaml]\nregularizer: 0.2\nkernel: {type: gaussian, bandwidth: 1}\nkernl: 1\n")
	_, err := one(LoadFile(filepath.Join(dir, "main.yaml")))
	want := fmt.Sprintf("%[1]s:1:11: a file includes itself: %[2]s → %[1]s → %[2]s\n%[1]s:4:1: unknown key \"kernl\", want one of ", second, filepath.Join(dir, "main.yaml"))
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error\n%v\nwant\n%s", err, want)
	}
	for _, path := range []string{dir, filepath.Join(dir, "none.yaml")} {
		if _, err := one(LoadFile(path)); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("LoadFile(%s): %v", path, err)
		}
	}
	if _, err := one(Find("mnist-ksmv")); err == nil || !strings.Contains(err.Error(), `no file "mnist-ksmv"`) {
		t.Errorf("Find: %v", err)
	}
}

// TestID pins the identity of a run. If it fails, finished runs would be rerun.
func TestID(t *testing.T) {
	run := sampleRun()
	const json = `{"data":{"draw":36,"name":"multidist","variant":"calibrated"},` +
		`"evaluation":{"every":320,"tail":5,"train_limit":0},"method":"polk",` +
		`"params":{"batch_size":32,"kernel":{"bandwidth":0.6,"type":"gaussian"},"learning_rate":6,` +
		`"parsimony":0.04,"regularizer":0.000001,"schedule":"constant"},"samples":5000,"seed":1,"task":"ksvm"}`
	if b, err := CanonicalJSON(run); err != nil || string(b) != json {
		t.Errorf("canonical JSON\n%s, %v\nwant\n%s", b, err, json)
	}
	const want = "e9e6746464bb531cb0f0ddfce143f46f"
	if got := ID(run); got != want {
		t.Errorf("ID %s, want %s", got, want)
	}
	// Every field matters.
	seen := map[string]bool{ID(run): true}
	var touch func(v reflect.Value)
	touch = func(v reflect.Value) {
		for i := range v.NumField() {
			f := v.Field(i)
			if name := v.Type().Field(i).Name; !f.CanSet() || v.Type() == reflect.TypeFor[data.File]() && name == "Name" {
				continue // the path and the name of a user's file don't matter
			}
			old := reflect.New(f.Type()).Elem()
			old.Set(f)
			switch f.Kind() {
			case reflect.Struct:
				touch(f)
				continue
			case reflect.String:
				f.SetString(f.String() + "x")
			case reflect.Int:
				f.SetInt(f.Int() + 1)
			case reflect.Uint64:
				f.SetUint(f.Uint() + 1<<60)
			case reflect.Float64:
				f.SetFloat(f.Float() + 1e-9)
			case reflect.Slice:
				f.SetBytes([]byte(`{"scale":1}`))
			case reflect.Bool:
				f.SetBool(!f.Bool())
			case reflect.Map:
				f.Set(reflect.ValueOf(prune.Params{"order": 8}))
			}
			if id := ID(run); seen[id] {
				t.Errorf("field %s does not change the ID", v.Type().Field(i).Name)
			} else {
				seen[id] = true
			}
			f.Set(old)
		}
	}
	touch(reflect.ValueOf(&run).Elem())
}

// TestMethods checks the method table against the types that specs decode into and the
// hyper-parameters of a run.
func TestMethods(t *testing.T) {
	for _, m := range Methods() {
		for _, p := range m.Params {
			var q Params
			q.Kernel.Type = "gaussian"
			v := map[ParamKind]setting{
				KindNumber: {number: 0.5}, KindInteger: {number: 3}, KindPruner: {word: "random"}, KindPrunerParams: {word: "order=3, width=0.5"},
			}[p.Kind]
			if p.Kind == KindChoice {
				v.word = p.Choices[0]
			}
			p.store(&q, v)
			if got := p.load(&q); got != v {
				t.Errorf("%s %s: set %v, got %v", m.Name, p.Name, v, got)
			}
			if p.About == "" {
				t.Errorf("%s %s is not described", m.Name, p.Name)
			}
			if p.Default != "" {
				if why := p.check(p.fallback()); why != "" {
					t.Errorf("%s: default: %s", m.Name, why)
				}
			}
			if (p.Used == nil) != (p.When == "") {
				t.Errorf("%s %s: a condition without words or words without one", m.Name, p.Name)
			}
		}
	}
}

func ExampleParse() {
	_, err := one(Parse("mine.yaml", []byte("name: mine\nstopping: {epoch: 1}\n")))
	fmt.Println(err)
	// Output:
	// mine.yaml:2:12: unknown key "epoch", want one of epochs, samples
}

// parsed checks that there is either a printable error or a spec that can be planned.
func parsed(t *testing.T, s *Spec, err error) {
	t.Helper()
	if printable(t, s != nil, err); err != nil {
		return
	}
	for _, profile := range Profiles() {
		plan := planOf(s, profile)
		ids := make(map[string]bool)
		for _, p := range plan {
			if ids[p.ID] || p.ID == "" || len(p.Run.Problems()) > 0 {
				t.Fatalf("ID %q twice or empty, or of a run with problems %v", p.ID, p.Run.Problems())
			}
			ids[p.ID] = true
		}
		if len(plan) > maxRuns {
			t.Fatalf("%d runs", len(plan))
		}
	}
}

// printable checks that there is either a result or a printable error.
func printable(t *testing.T, result bool, err error) {
	t.Helper()
	if result == (err != nil) || err != nil && (err.Error() == "" || strings.ContainsRune(err.Error(), '\x1b')) {
		t.Fatalf("a result: %v, error %q", result, err)
	}
}

// must returns a fixture. It panics on an error, because no test can continue without the
// fixture.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
