//go:build check

package harness

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// TestCheckGoldenFigures holds the runs that TestGoldenFigures leaves out.
func TestCheckGoldenFigures(t *testing.T) {
	plan := goldenPlan(t)
	if !*update {
		plan = slices.DeleteFunc(plan, inMakeTest)
	}
	got, complete := trainGolden(t, plan)
	if *update {
		writeGolden(t, got)
		return
	}
	holdGolden(t, got)
	if complete && len(got) != len(plan) {
		t.Errorf("%d of %d runs have figures", len(got), len(plan))
	}
}

func writeGolden(t *testing.T, got []golden) {
	b, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goldenFile, append(b, '\n'), 0o666); err != nil {
		t.Fatal(err)
	}
}
