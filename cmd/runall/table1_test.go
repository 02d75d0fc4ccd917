package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/convergence"
	"polkrepro/harness"
)

// TestTable1: the smoke profile is run once, then kept; 'runall report' shows
// it without training, and refuses a record that was tampered with.
func TestTable1(t *testing.T) {
	results := t.TempDir()
	code, stdout, stderr := call(t, "reproduce", "table1", "--profile", "smoke", "--results", results, "--progress", "plain")
	if code != harness.ExitOK || !strings.Contains(stderr, "4 runs to do") {
		t.Fatalf("exit status %d, stderr %s", code, stderr)
	}
	for _, want := range []string{"Summary of convergence results", "lim inf ‖f_t − f*‖ = O(√η) a.s.", "table1.gradient", "table1a.svg"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not printed", want)
		}
	}
	code, again, stderr := call(t, "reproduce", "table1", "--profile", "smoke", "--results", results, "--progress", "plain")
	if code != harness.ExitOK || !strings.Contains(stderr, "nothing to do; 4 runs finished already") || again != stdout {
		t.Errorf("again: exit status %d, stderr %s, the same output: %v", code, stderr, again == stdout)
	}
	code, stdout, stderr = call(t, "report", "--results", results)
	if code != harness.ExitOK || !strings.Contains(stdout, "Summary of convergence results") {
		t.Errorf("report: exit status %d, stderr %s", code, stderr)
	}
	files, err := filepath.Glob(filepath.Join(convergence.Dir(results), "*.jsonl"))
	if err != nil || len(files) != 4 {
		t.Fatalf("records %v, error %v", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(files[0], b, 0o666); err != nil {
		t.Fatal(err)
	}
	code, _, stderr = call(t, "report", "--results", results)
	if code != harness.ExitFailed || !strings.Contains(stderr, files[0]) {
		t.Errorf("report of a damaged record: exit status %d, stderr %s", code, stderr)
	}
}
