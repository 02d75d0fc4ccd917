//go:build check

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"polkrepro/evidence"
	"polkrepro/evidence/stats"
	"polkrepro/harness"
)

// TestCheckTable1: the runs of Table 1 in the quick profile reproduce every claim of
// it, and agree with the recorded ones.
func TestCheckTable1(t *testing.T) {
	results := t.TempDir()
	if code, _, stderr := call(t, "reproduce", "table1", "--results", results, "--progress", "quiet"); code != harness.ExitOK {
		t.Fatalf("reproduce: exit status %d, %s", code, stderr)
	}
	_, stdout, _ := call(t, "verify", "--json", "--profile", "quick", "--results", results) // the exit status is that of all claims
	var d evidence.Document
	if err := json.Unmarshal([]byte(stdout), &d); err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Claims {
		if strings.HasPrefix(c.ID, "table1.") && c.Verdict != stats.Reproduced {
			t.Errorf("%s: %v", c.ID, c.Verdict)
		}
	}
	if n := d.Counts.Theorems; n.Reproduced != 9 || n.Total() != 9 {
		t.Errorf("theorems: %v", n)
	}
	code, stdout, stderr := call(t, "verify", "records", "--results", results, "--with", "../../results/reference")
	if code != harness.ExitOK || !strings.Contains(stdout, "25 runs compared") {
		t.Errorf("records: exit status %d, %s%s", code, stdout, stderr)
	}
}
