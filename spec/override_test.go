package spec

import (
	"strings"
	"testing"
)

// TestOverrides: the runs of a spec with overrides are those of a file with these values.
func TestOverrides(t *testing.T) {
	for _, c := range []struct{ name, set, old, new string }{
		{"a hyper-parameter of a method", "polk.parsimony=0.08", "grid: {parsimony: [1e-4, 0.04]}", "parsimony: 0.08"},
		{"a grid", "polk.parsimony=[0.01, 0.02]", "[1e-4, 0.04]", "[0.01, 0.02]"},
		{"a grid in place of a value", "bsgd.budget=[8, 32]", "budget: 16", "grid: {budget: [8, 32]}"},
		{"of all methods that take it", "parsimony=0.08", "grid: {parsimony: [1e-4, 0.04]}", "parsimony: 0.08"},
		{"of the spec", "kernel.bandwidth=3", "bandwidth: 0.6", "bandwidth: 3"},
		{"a mapping", "kernel={type: gaussian, bandwidth: 3}", "bandwidth: 0.6", "bandwidth: 3"},
		{"elements of a list", "repeats.seeds=2", "seeds: 3", "seeds: 2"},
		{"a list", "repeats=[{draws: figure}]", "draws: calibrated, count: 2, seeds: 3", "draws: figure"},
		{"one key for another, in profiles too", "stopping.samples=320", "{epochs: 1}", "{samples: 320}"},
		{"a profile", "profiles.smoke.stopping.epochs=1", "stopping: {samples: 100}", "stopping: {epochs: 1}"},
		{"a key of a method", "polk.label=first", "  - method: polk", "  - method: polk\n    label: first"},
		{"a parameter of a pruner", "polk.pruner_params.order=9", "batch_size: 32", "batch_size: 32\n    pruner_params: {order: 9}"},
	} {
		src := strings.NewReplacer("    figures: [\"2\"]\n    points:\n      - at: {parsimony: 0.04}\n        cells: [table2.multidist.ksvm.polk]\n", "", "smoke: {only: [polk], ", "smoke: {").Replace(valid)
		if c.name == "a parameter of a pruner" {
			src = strings.Replace(src, "    grid: {parsimony: [1e-4, 0.04]}", "    pruner: komp-age", 1)
		}
		dir := t.TempDir()
		changed := strings.Replace(src, c.old, c.new, 1)
		if c.set == "stopping.samples=320" {
			changed = strings.Replace(changed, "{samples: 100}", "{samples: 320}", 1)
		}
		want, wantErr := one(LoadFile(writeFile(t, dir, "changed.yaml", changed)))
		got, err := one(LoadFile(writeFile(t, dir, "spec.yaml", src), must(ParseOverride(c.set))))
		if err != nil || wantErr != nil {
			t.Errorf("%s: %v, %v", c.name, err, wantErr)
			continue
		}
		for _, profile := range Profiles() {
			ids := func(s *Spec) string {
				return strings.Join(valuesOf(planOf(s, profile), func(p Planned) string { return p.ID }), "\n")
			}
			if ids(got) != ids(want) || got.Name != "sample"+(Overrides{must(ParseOverride(c.set))}).String() || got.Apart() {
				t.Errorf("%s: %s has other runs in %s, or is apart", c.name, got.Name, profile)
			}
		}
	}
}

// TestOverridesOfEmbedded: an embedded spec with an override feeds nothing and has all of its methods in
// every repeat.
func TestOverridesOfEmbedded(t *testing.T) {
	s := must(one(Find("multidist-ksvm", must(ParseOverride("polk.parsimony=0.08")))))
	plan := planOf(s, ProfileQuick)
	if s.Name != "multidist-ksvm --set polk.parsimony=0.08" || !s.Apart() || len(plan) != 3*24 || plan[0].Run.Params.Parsimony != 0.08 {
		t.Errorf("%s: %d runs, apart %v", s.Name, len(plan), s.Apart())
	}
	for _, p := range plan {
		if len(p.Cells)+len(p.Figures) > 0 {
			t.Fatalf("%s feeds %v", p.Series, p.Cells)
		}
	}
	both := must(Find("mnist-klr", must(ParseOverride("task=[ksvm, klr]")), must(ParseOverride("data=[{name: mnist}, {name: glyphs}]"))))
	if len(both) != 4 || both[3].Name != "mnist-klr-glyphs-klr --set task=[ksvm,klr] --set data=[{name: mnist},{name: glyphs}]" || both[3].Data.Name != "glyphs" {
		t.Errorf("%d specs, the last %s", len(both), both[3].Name)
	}
	comparison := must(FindComparison("", must(ParseOverride("learning_rate=3")), must(ParseOverride("stopping.samples=640"))))
	runs := must(comparison.Plan(ProfileQuick))
	if p := runs[0].Run; p.Params.LearningRate != 3 || comparison.DataSets[0].Samples(ProfileQuick) != 640 || !strings.HasSuffix(comparison.Name, " --set learning_rate=3 --set stopping.samples=640") {
		t.Errorf("%s: rate %v", comparison.Name, p.Params.LearningRate)
	}
}

// TestOverrideErrors: an error names the flag, and what is possible.
func TestOverrideErrors(t *testing.T) {
	dir := t.TempDir()
	file := writeFile(t, dir, "spec.yaml", valid)
	for text, want := range map[string]string{
		"parsimony":             `"parsimony": must be KEY=VALUE, such as polk.parsimony=0.08`,
		"polk..parsimony=1":     "must be KEY=VALUE",
		"polk.parsimony=":       "must be KEY=VALUE",
		"polk.parsimony=[1":     "--set polk.parsimony:1:8: not valid YAML",
		"task=klr\nname: x":     "--set task: \"klr\\nname: x\" is more than one value",
		"polk.parsimony=much":   `--set polk.parsimony: "much" (text), want a number`,
		"polk.parsimony=-1":     "--set polk.parsimony: parsimony is -1, want more than 0",
		"polk.parsimony=[1, 1]": "--set polk.parsimony: duplicate value 1 in the grid of parsimony",
		"polk.parsimonny=1":     `--set polk.parsimonny: unknown key "parsimonny", want one of method, label`,
		"polk.budget=1":         "--set polk.budget: polk takes no budget",
		"plok.parsimony=1":      `--set plok.parsimony: unknown key "plok", want a key of specs (include, name, `,
		"tolerance=1":           "--set tolerance: no method of the spec takes tolerance; its methods are polk, bsgd",
		"kernel.bandwith=3":     `--set kernel.bandwith: unknown key "bandwith", want one of type, bandwidth`,
		"evaluation.every=0":    "--set evaluation.every: every is 0, want 1 to ",
		"repeats.seeds=10001":   "--set repeats.seeds: seeds is 10001, want 1 to 10000",
		"stopping=3":            `--set stopping: "3" (an integer), want a mapping`,
	} {
		o, err := ParseOverride(text)
		if err == nil {
			_, err = LoadFile(file, o)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	_, err := FindComparison("", must(ParseOverride("compare.order=[3]")))
	if err == nil || !strings.Contains(err.Error(), `--set compare.order: unknown key "order", want one of reference, `) {
		t.Errorf("comparison: %v", err)
	}
}

// TestOnly: runs are selected by their properties, and a value that none has is an error.
func TestOnly(t *testing.T) {
	plan := planOfSpec("multidist-ksvm", ProfileQuick)
	for text, want := range map[string]int{
		"method=polk":                         48,
		"method=polk,method=bsgd":             96,
		"method=polk,seed=2":                  2,
		"data=multidist,task=ksvm,label=bsgd": 48,
		"spec=multidist-ksvm,seed=5":          4,
	} {
		only := make(Only)
		err := only.Add(text, OnlyKeys())
		got, wrong := only.Of(plan)
		if err != nil || wrong != nil || len(got) != want || only.String() == "" {
			t.Errorf("%s: %d runs, want %d; %v, %v", text, len(got), want, err, wrong)
		}
	}
	for text, want := range map[string]string{
		"methods=polk": `"methods=polk": must be KEY=VALUE, such as method=polk, with one of the keys spec, data, task, method, label, seed`,
		"method":       `"method": must be KEY=VALUE`,
		"method=plok":  "--only method=plok: no run has it; the runs have polk, bsgd",
	} {
		only := make(Only)
		err := only.Add(text, OnlyKeys())
		if err == nil {
			_, err = only.Of(plan)
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}
