//go:build check

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/harness"
)

// benchRows writes a CSV file of 250 rows of two classes.
func benchRows(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,y,kind\n")
	for i := range 250 {
		x, y := i*37%101, i*53%89
		fmt.Fprintf(&b, "%d,%d,%s\n", x, y, map[bool]string{true: "elm", false: "oak"}[x > y])
	}
	return putIn(t, dir, "rows.csv", b.String())
}

// TestCheckBench: bench writes a spec, a table, figures and a page about these runs alone. A
// second call has nothing to do, and reproduce with the spec prints the same.
func TestCheckBench(t *testing.T) {
	dir := t.TempDir()
	rows, results := benchRows(t, dir), filepath.Join(dir, "results")
	args := []string{"bench", rows, "--label", "kind", "--budget", "1s", "--predictions", "--results", results, "--progress", "plain"}
	code, stdout, stderr := call(t, args...)
	spec := filepath.Join(results, "bench-rows.yaml")
	if code != 0 || !strings.Contains(stdout, "Results of bench-rows") || !strings.Contains(stderr, "written: "+spec) {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	for _, name := range []string{"report.html", "figures/bench-rows-figure1.png", "figures/bench-rows-tradeoff1-order.pdf", "figures/bench-rows-tradeoff1-time.csv", "figures/bench-rows-online1.svg", "tables/results.csv", "tables/methods.csv"} {
		if info, err := os.Stat(filepath.Join(harness.ReportDir(results), name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !strings.Contains(stdout, "bench-rows: methods against POLK") || !strings.Contains(stdout, "CPU (s)") {
		t.Errorf("no verdicts or processor times:\n%s", stdout)
	}
	if text := contents(t, spec); !strings.Contains(text, "\n# yaml-language-server: $schema=spec.schema.json\n") || !strings.HasPrefix(contents(t, filepath.Join(results, "spec.schema.json")), "{") {
		t.Errorf("no schema beside\n%s", text)
	}
	if table := contents(t, filepath.Join(results, predictionsName)); strings.Count(table, "\n") < 5*50 { // five splits of 250 rows
		t.Errorf("%s", table)
	}
	before := contents(t, spec)
	code, again, stderr := call(t, args...)
	if code != 0 || again != stdout || !strings.Contains(stderr, "which an earlier search found") || !strings.Contains(stderr, "nothing to do") {
		t.Errorf("again: exit %d\n%s%s", code, again, stderr)
	}
	if contents(t, spec) != before {
		t.Error("again: another spec")
	}
	code, repeated, stderr := call(t, "reproduce", spec, "--results", results, "--progress", "plain")
	if code != 0 || repeated != stdout || !strings.Contains(stderr, "nothing to do") {
		t.Errorf("reproduce: exit %d\n%s%s", code, repeated, stderr)
	}
}

// TestCheckCompareData: compare --data writes a comparison and its report. compare with the
// comparison's file, which contains the script's command, completes what the budget left. A second
// call has nothing to do and prints the same. report prints the same too and starts no process.
func TestCheckCompareData(t *testing.T) {
	dir := t.TempDir()
	rows, results := benchRows(t, dir), filepath.Join(dir, "results")
	args := func(with string) []string {
		return []string{"compare", "--data", rows, "--label", "kind", "--budget", "1s", "--with", with, "--results", results, "--progress", "plain"}
	}
	with := `merging,"repeat=pruner 0.1,0.5"`
	code, stdout, stderr := call(t, args(with)...)
	spec := filepath.Join(results, "compare-rows.yaml")
	if code != 0 || !strings.Contains(stdout, "Pruning heuristics on rows") || !strings.Contains(stderr, "written: "+spec) ||
		!strings.Contains(stderr, "repeat, by a probe: its process starts in ") {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	if info, err := os.Stat(filepath.Join(harness.ReportDir(results), "comparison", "report.html")); err != nil || info.Size() == 0 {
		t.Errorf("the page: %v", err)
	}
	code, stdout, stderr = call(t, "compare", spec, "--results", results, "--progress", "plain") // all replicates, whatever the budget
	if code != 0 {
		t.Errorf("compare the file: exit %d\n%s%s", code, stdout, stderr)
	}
	if !strings.Contains(stderr, "repeat is the command pruner 0.1,0.5, by "+spec) {
		t.Errorf("the command is not said: %s", stderr)
	}
	code, again, stderr := call(t, args(with)...)
	if code != 0 || again != stdout || !strings.Contains(stderr, "which an earlier search found") || !strings.Contains(stderr, "nothing to do") {
		t.Errorf("again: exit %d\n%s%s", code, again, stderr)
	}
	code, reported, stderr := call(t, "report", "--results", results)
	if code != 0 || !strings.HasPrefix(stdout, reported) || reported == "" {
		t.Errorf("report: exit %d\n%s%s", code, reported, stderr)
	}
}
