//go:build check

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"polkrepro/experiments"
	"polkrepro/harness"
)

// The smallest measurement goes through, with what the recorded runs cost beside it.
func TestCheckScale(t *testing.T) {
	out := filepath.Join(t.TempDir(), "scale")
	p := start(t, "measure", "cost", "--profile", "smoke", "--results", "../../results/reference", "--out", out)
	if code := p.wait(t); code != 0 {
		t.Fatalf("exit status %d: %s", code, p.stderr.String())
	}
	for _, name := range []string{"steps.csv", "trainings.csv", "rates.csv", "figures/scale.png"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(out, "scale.txt"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`1,000 specs like the (\d+) recorded \((\d+) runs; without (\d+) `).FindStringSubmatch(string(text))
	if m == nil {
		t.Fatalf("no forecast in:\n%s", text)
	}
	if specs, runs := plannedCells(t); m[1] != fmt.Sprint(specs) || m[2] != fmt.Sprint(runs) || m[3] != "0" {
		t.Errorf("forecast of %s specs, %s runs, %s gone; the full profile has %d and %d", m[1], m[2], m[3], specs, runs)
	}
	// More cores never take longer, and none is more than fully at work.
	rows := regexp.MustCompile(`(?m)^([\d,]+) +\S.*?(\d+) %$`).FindAllStringSubmatch(string(text), -1)
	if len(rows) != 5 {
		t.Fatalf("%d rows of cores in:\n%s", len(rows), text)
	}
	last := 101
	for _, r := range rows {
		share, err := strconv.Atoi(r[2])
		if err != nil || share > min(100, last) || share < 1 {
			t.Errorf("share %s after %d", r[2], last)
		}
		last = share
	}
}

// plannedCells counts the specs and runs of the full profile that feed a table or a
// figure.
func plannedCells(t *testing.T) (specs, runs int) {
	all, err := harness.FindSpecs(nil)
	if err != nil {
		t.Fatal(err)
	}
	names, ids := make(map[string]bool), make(map[string]bool)
	plan, err := harness.PlanAll(all, "full", experiments.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plan {
		if p.Run.Data.Name == "glyphs" || p.Run.Data.Name == "weaves" || len(p.Cells)+len(p.Figures) == 0 {
			continue // what stands in for a data set, and the multiverse
		}
		if !ids[p.ID] {
			names[p.Spec] = true
		}
		ids[p.ID] = true
	}
	return len(names), len(ids)
}
