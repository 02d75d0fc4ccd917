//go:build check

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"polkrepro/evidence"
	"polkrepro/evidence/stats"
)

// TestCheckTable1: the runs of the quick profile alone reproduce every claim of
// Table 1. They are judged by their recorded results, which make agree trains again.
func TestCheckTable1(t *testing.T) {
	_, stdout, _ := call(t, "verify", "--json", "--profile", "quick", "--results", "../../results/reference") // the exit status is that of all claims
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
}
