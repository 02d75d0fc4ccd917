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
	path := filepath.Join(dir, "rows.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBench: bench writes a spec, a table, figures and a page about these runs alone. A
// second call has nothing to do, and reproduce repeats the spec.
func TestBench(t *testing.T) {
	if testing.Short() {
		t.Skip("trains all methods")
	}
	dir := t.TempDir()
	rows, results := benchRows(t, dir), filepath.Join(dir, "results")
	args := []string{"bench", rows, "--label", "kind", "--budget", "1s", "--results", results, "--progress", "plain"}
	code, stdout, stderr := call(t, args...)
	spec := filepath.Join(results, "bench-rows.yaml")
	if code != 0 || !strings.Contains(stdout, "Results of bench-rows") || !strings.Contains(stderr, "written: "+spec) {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	for _, name := range []string{"report.html", "figures/figure1.png", "figures/tradeoff1.svg", "figures/tradeoff1.csv", "tables/results.csv"} {
		if info, err := os.Stat(filepath.Join(harness.ReportDir(results), name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	before, err := os.ReadFile(spec)
	if err != nil {
		t.Fatal(err)
	}
	code, again, stderr := call(t, args...)
	if code != 0 || again != stdout || !strings.Contains(stderr, "which an earlier search found") || !strings.Contains(stderr, "nothing to do") {
		t.Errorf("again: exit %d\n%s%s", code, again, stderr)
	}
	if after, err := os.ReadFile(spec); err != nil || string(after) != string(before) {
		t.Errorf("again: another spec, %v", err)
	}
	code, repeated, stderr := call(t, "reproduce", spec, "--results", results, "--progress", "plain")
	if code != 0 || repeated != stdout || !strings.Contains(stderr, "nothing to do") {
		t.Errorf("reproduce: exit %d\n%s%s", code, repeated, stderr)
	}
}

// TestBenchErrors: what is wrong is said before anything is trained or written.
func TestBenchErrors(t *testing.T) {
	dir := t.TempDir()
	rows := benchRows(t, dir)
	plain := filepath.Join(dir, "rows.txt")
	if err := os.Link(rows, plain); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"", harness.ExitUsage, "accepts 1 arg(s), received 0"},
		{rows + " --label none", harness.ExitUsage, "none"},
		{rows + " --label kind --budget -1s", harness.ExitUsage, "--budget -1s: must be more than 0"},
		{rows + " --label kind --task guess", harness.ExitUsage, "must be one of ksvm"},
		{rows + " --label kind --task squared-error", harness.ExitUsage, "is not a number"},
		{rows + " --label kind --test " + rows, harness.ExitUsage, "the test data are the training data"},
		{rows + " --label kind --ignore-columns z", harness.ExitUsage, "z"},
		{plain, harness.ExitUsage, "format: csv"},
		{plain + " --format libsvm --label 1", harness.ExitUsage, "label applies only to CSV"},
		{dir + "/gone.csv", harness.ExitIncomplete, "gone.csv"},
		{rows + " --label kind --test " + dir + "/gone.csv", harness.ExitIncomplete, "gone.csv"},
	} {
		code, _, stderr := call(t, append([]string{"bench", "--results", filepath.Join(dir, "results")}, strings.Fields(tt.args)...)...)
		if code != tt.code || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: exit %d, want %d and %q: %s", tt.args, code, tt.code, tt.want, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "results")); err == nil {
		t.Error("a results folder was made")
	}
}
