package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/harness"
)

// tinyTournament is one of a second.
const tinyTournament = `name: tiny
title: A tiny tournament
reference: komp
heuristics: [random, komp-order, none]
fields:
  - name: multidist-ksvm
    title: multidist
    data: {name: multidist}
    drawn: true
    task: ksvm
    bandwidth: 0.6
    learning_rate: 6
    regularizer: 1e-6
    batch_size: 32
    levels: [16, 32]
    budgets: {order: [16, 32], parsimony: [0.05, 0.03, 0.01]}
    profiles: {smoke: {samples: 640, replicates: 3, every: 320}}
`

// TestCompare: a tournament prints its findings, writes a page a heuristic, a
// table and figures, and when called again trains nothing.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	spec, results := filepath.Join(dir, "tiny.yaml"), filepath.Join(dir, "results")
	if err := os.WriteFile(spec, []byte(tinyTournament), 0o666); err != nil {
		t.Fatal(err)
	}
	call := func(more ...string) (stdout, stderr string) {
		t.Helper()
		var out, errs strings.Builder
		args := append([]string{"compare", spec, "--profile", "smoke", "--results", results, "--progress", "json"}, more...)
		if status := run(args, &out, &errs); status != harness.ExitOK {
			t.Fatalf("exit %d: %s", status, errs.String())
		}
		return out.String(), errs.String()
	}
	first, progress := call()
	for _, want := range []string{"A tiny tournament", "multidist: heuristics against komp", "By error at equal model order, on 1 field.", "komp-order", "Written: "} {
		if !strings.Contains(first, want) {
			t.Errorf("the output lacks %q:\n%s", want, first)
		}
	}
	if n := strings.Count(progress, `"event":"finish"`); n != 3*(3+2+2+1) {
		t.Errorf("%d runs, want 24", n)
	}
	report := filepath.Join(harness.ReportDir(results), "tournament")
	for _, name := range []string{"index.md", "runs.csv", "tables/multidist-ksvm.csv",
		"figures/multidist-ksvm-order.png", "figures/multidist-ksvm-anytime.svg", "figures/ranks.pdf"} {
		if info, err := os.Stat(filepath.Join(report, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	second, progress := call()
	if second != first || strings.Contains(progress, `"event":"start"`) {
		t.Errorf("the second call differs, or trains:\n%s", progress)
	}
	text, about := call("--json")
	document := validJSON(t, "compare", text).(map[string]any)
	heuristics := document["fields"].([]any)[0].(map[string]any)["heuristics"].([]any)
	if komp := heuristics[0].(map[string]any); komp["name"] != "komp" || len(komp["comparisons"].([]any)) != 0 || len(komp["runs"].([]any)) != 9 {
		t.Errorf("the reference in JSON: %v", komp)
	}
	if other := heuristics[1].(map[string]any); len(heuristics) != 4 || len(other["comparisons"].([]any)) != 4 || !strings.Contains(about, "Written: ") {
		t.Errorf("%d heuristics in JSON, %s", len(heuristics), about)
	}
	if few, _ := call("--with", "random"); strings.Contains(few, "komp-order") || !strings.Contains(few, "random") {
		t.Errorf("with random alone:\n%s", few)
	}
}

func TestCompareUsage(t *testing.T) {
	for _, args := range [][]string{
		{"compare", "nowhere.yaml"},
		{"compare", "--with", "rendom"},
		{"compare", "--profile", "quik"},
		{"compare", "a", "b"},
		{"compare", "--label", "last"}, // applies only with --data
		{"compare", "pruning", "--data", "rows.csv"},
		{"compare", "--data", "rows.csv", "--profile", "full"},
		{"compare", "--data", "rows.csv", "--task", "squared-error"},
		{"compare", "--data", "rows.csv", "--budget", "0s"},
	} {
		var out, errs strings.Builder
		if status := run(append(args, "--results", t.TempDir()), &out, &errs); status != harness.ExitUsage || out.Len() > 0 || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%v: exit %d, %s%s", args, status, out.String(), errs.String())
		}
	}
}
