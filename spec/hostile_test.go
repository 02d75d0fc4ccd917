package spec

import (
	"fmt"
	"os"
	"path/filepath"
	"polkrepro/experiments"
	"strings"
	"testing"
	"time"

	"polkrepro/internal/hostile"
)

// TestHostileSpecs checks that no text makes the parser or the planner use more memory than
// a spec may, and that each text is refused. Without limits, the parser would take minutes
// for the texts with many brackets.
func TestHostileSpecs(t *testing.T) {
	const size = 64<<10 - 100
	list := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d, ", i+1)
		}
		return b.String() + fmt.Sprint(n+1)
	}
	var keys, flow strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
		fmt.Fprintf(&flow, "k%d: 1, ", i)
	}
	change := func(old, new string) string {
		if !strings.Contains(valid, old) {
			t.Fatalf("no %q in the valid spec", old)
		}
		return strings.Replace(valid, old, new, 1)
	}
	for name, src := range map[string]string{
		"brackets":            strings.Repeat("[", size),
		"closed brackets":     "a: " + strings.Repeat("[", size/2) + strings.Repeat("]", size/2),
		"braces":              strings.Repeat("{a: ", size/4),
		"brackets, fewer":     strings.Repeat("[", 4000),
		"dashes":              strings.Repeat("- ", 4000),
		"question marks":      strings.Repeat("? ", 4000),
		"quotes":              strings.Repeat(`"`, 4000),
		"aliases":             "a: &a [1, 1]\n" + strings.Repeat("b: &b [*a, *a]\n", 1000),
		"merges":              strings.Repeat("<<: {a: 1}\n", 1000),
		"unknown keys":        keys.String(),
		"in one line":         "{" + flow.String() + "}",
		"a long list":         "seeds: [" + list(10000) + "]",
		"too long":            strings.Repeat("# long\n", size),
		"a grid of billions":  change("    batch_size: 32\n    grid: {parsimony: [1e-4, 0.04]}", "    grid: {parsimony: ["+list(900)+"], batch_size: ["+list(900)+"]}"),
		"runs by the million": change("draws: calibrated, count: 2, seeds: 3", "draws: ["+list(5000)+"], seeds: 10000"),
		"a series name":       change("learning_rate: 6", "learning_rate: 6\n    series: "+strings.Repeat("x", 300)),
		"a formula":           change("learning_rate: 6", "learning_rate: 6\n    series: '=1+1'"),
		"evaluations":         change("{epochs: 1}", "{samples: 100000000}"),
		"a title":             change("title: A", `title: "\e[2J" # A`),
		"a description":       change("name: sample", "name: sample\ndescription: \"\\e[2J\""),
	} {
		hostile.AtMost(t, 256<<20, func() {
			if s, err := one(Parse("hostile.yaml", []byte(src))); err == nil || len(err.Error()) > 8<<10 || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%s: spec %v, error %v", name, s, err)
			}
		})
	}
}

// TestManySeeds: about as many runs as a spec may have are planned within the memory of a hostile spec, and --seeds
// plans nothing of a spec that a profile skips.
func TestManySeeds(t *testing.T) {
	src := strings.Replace(valid, "draws: calibrated, count: 2, seeds: 3", "draws: figure, seeds: 3000", 1)
	hostile.AtMost(t, 256<<20, func() {
		if n := len(planOf(must(one(Parse("spec.yaml", []byte(src)))), ProfileQuick)); n != 9000 {
			t.Errorf("%d runs", n)
		}
	})
	skipped := must(one(Find("mnist-ksvm")))
	if plan, err := skipped.Plan(ProfileSmoke, PlanOptions{Seeds: 3}); err != nil || len(plan) > 0 {
		t.Errorf("a profile that skips the spec: %d runs, %v", len(plan), err)
	}
}

// TestDefaultsMerge: an entry's parameters of a pruner are merged over those of the method's defaults.
func TestDefaultsMerge(t *testing.T) {
	src := strings.Replace(valid, "    batch_size: 32\n    grid: {parsimony: [1e-4, 0.04]}\n    figures: [\"2\"]\n    points:\n      - at: {parsimony: 0.04}\n        cells: [table2.multidist.ksvm.polk]\n",
		"    batch_size: 32\n    pruner_params: {order: 9}\n", 1)
	src += "defaults: {polk: {pruner: komp-age, pruner_params: {memory: 5}}}\n"
	p := planOf(must(one(Parse("spec.yaml", []byte(src)))), ProfileQuick)[0].Run.Params
	if p.Pruner != "komp-age" || p.PrunerParams.String() != "memory=5, order=9" {
		t.Errorf("%s, %s", p.Pruner, p.PrunerParams)
	}
}

// TestHostileComparison checks the limits on the product of data sets, budgets and replicates.
func TestHostileComparison(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: parsing alone, and the race detector allocates four times as much")
	}
	src := must(experiments.Files.ReadFile(ComparisonFile))
	for n, want := range map[int]string{2000: "the grid has more than 1000 points", 900: "more than 10000", 0: "more than 100000"} {
		var values strings.Builder
		for i := range n {
			fmt.Fprintf(&values, "0.5%04d, ", i)
		}
		text := strings.Replace(string(src), "parsimony: [", "parsimony: ["+values.String(), 1)
		text = strings.ReplaceAll(text, "{seeds: 5}", "{seeds: 1000}")
		hostile.AtMost(t, 64<<20, func() {
			if _, err := ParseComparison("hostile.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%d values: error %v", n, err)
			}
		})
	}
}

// TestIncludesStayInside checks that neither a path nor a symbolic link leads out of the
// spec's folder, and that an endless file is not opened.
func TestIncludesStayInside(t *testing.T) {
	outside := t.TempDir()
	secret := writeFile(t, outside, "secret.yaml", "secret: 1\n")
	dir := t.TempDir()
	if err := os.Symlink(secret, filepath.Join(dir, "link.yaml")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "sub")); err != nil {
		t.Skip(err)
	}
	relative := must(filepath.Rel(dir, secret))
	for _, name := range []string{secret, filepath.ToSlash(relative), "link.yaml", "sub/secret.yaml", "sub/../../x", "/dev/zero", "."} {
		_, err := one(LoadFile(writeFile(t, dir, "main.yaml", fmt.Sprintf("include: [%q]\n%s", name, valid))))
		if err == nil || strings.Contains(err.Error(), "secret: 1") || !strings.Contains(err.Error(), "main.yaml:1:") {
			t.Errorf("include %q: error %v", name, err)
		}
	}
}

// FuzzInclude parses two files of which one may include the other. The result is an error or
// a spec that can be planned.
func FuzzInclude(f *testing.F) {
	for _, name := range []string{"paper/multidist.yaml", "paper/mnist.yaml"} {
		src := must(experiments.Files.ReadFile(name))
		f.Add(string(src), "")
	}
	for _, c := range bad {
		if src := strings.Replace(valid, c.old, c.new, 1); len(src) < 4096 {
			f.Add(src, "")
		}
	}
	f.Add("include: [b.yaml]\n"+valid, "regularizer: 0.5\n")
	f.Add("include: [b.yaml]\ntitle: t\n", valid)
	f.Add("include: [b.yaml, a.yaml]\n"+valid, "include: [a.yaml]\n")
	f.Add(strings.Replace(valid, "methods:", "defaults: {polk: {batch_size: 8}}\nmethods:", 1), "")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 8<<10 {
			return // the parser's time grows with the square of the length
		}
		open := func(from, name string) (source, error) {
			switch name {
			case "a.yaml":
				return source{label: name, id: name, text: []byte(a)}, nil
			case "b.yaml":
				return source{label: name, id: name, text: []byte(b)}, nil
			}
			return openEmbedded(from, name)
		}
		start := time.Now()
		s, err := one(parseSpecs(source{label: "a.yaml", id: "a.yaml", text: []byte(a)}, open))
		if took := time.Since(start); took > 10*time.Second {
			t.Fatalf("took %v", took)
		}
		parsed(t, s, err)
	})
}

// FuzzParseComparison checks that the result is an error with a message, or a comparison
// whose plans are within the limit.
func FuzzParseComparison(f *testing.F) {
	src := must(experiments.Files.ReadFile(ComparisonFile))
	f.Add(string(src))
	f.Add("name: t\ntitle: T\ncompare: {reference: komp}\n")
	f.Add(`name: small
title: A small one
compare: {reference: komp-order, heuristics: [oldest], orders: [4, 8], values: {order: [4, 8]}}
task: ksvm
data: {name: multidist}
kernel: {type: gaussian, bandwidth: 0.6}
regularizer: 1e-6
defaults: {polk: {learning_rate: 6, batch_size: 32}}
stopping: {samples: 100}
`)
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 16<<10 {
			return // the parser's time grows with the square of the length
		}
		comparison, err := ParseComparison("fuzz.yaml", []byte(src))
		if printable(t, comparison != nil, err); err != nil {
			return
		}
		for _, profile := range Profiles() {
			if plan, err := comparison.Plan(profile); err != nil || len(plan) > maxCompared {
				t.Fatalf("%d runs, error %v", len(plan), err)
			}
		}
	})
}
