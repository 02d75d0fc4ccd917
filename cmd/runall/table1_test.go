package main

import (
	"strings"
	"testing"

	"polkrepro/harness"
)

// TestTable1: the smoke profile of Table 1 is run once, then kept; it shows the
// paper's table, and so does 'runall report'; its claims are judged and explained
// like all others.
func TestTable1(t *testing.T) {
	if testing.Short() {
		t.Skip("renders every table and figure several times, as TestReportOfASealedFolder does once")
	}
	results := t.TempDir()
	code, stdout, stderr := call(t, "reproduce", "table1", "--profile", "smoke", "--results", results, "--progress", "plain")
	if code != harness.ExitOK || !strings.Contains(stderr, "5 runs to do") {
		t.Fatalf("exit status %d, stderr %s", code, stderr)
	}
	for _, want := range []string{"Summary of convergence results", "lim inf ‖f_t − f*‖ = O(√η) a.s.", "Results of table1, profile smoke"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not printed", want)
		}
	}
	code, again, stderr := call(t, "reproduce", "table1", "--profile", "smoke", "--results", results, "--progress", "plain")
	if code != harness.ExitOK || !strings.Contains(stderr, "nothing to do; 5 runs finished already") || again != stdout {
		t.Errorf("again: exit status %d, stderr %s, the same output: %v", code, stderr, again == stdout)
	}
	code, stdout, stderr = call(t, "report", "--results", results)
	if code != harness.ExitOK || !strings.Contains(stdout, "Summary of convergence results") {
		t.Errorf("report: exit status %d, stderr %s", code, stderr)
	}
	code, stdout, stderr = call(t, "explain", "table1.gradient.steps[POLK, η = 0.3, K = 0.3]", "--results", results, "--profile", "smoke")
	if code != harness.ExitOK || !strings.Contains(stdout, "table1.gradient: not run") || !strings.Contains(stdout, "steps[POLK, η = 0.3, K = 0.3]: reproduced") {
		t.Errorf("explain: exit status %d, %s%s", code, stdout, stderr)
	}
	code, stdout, _ = call(t, "verify", "--results", results)
	if code != harness.ExitIncomplete || !strings.Contains(stdout, "theorems of Table 1: 0 of 9 reproduced, 9 not run") {
		t.Errorf("verify: exit status %d, %s", code, stdout)
	}
}
