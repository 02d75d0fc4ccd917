package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Targets in any unit are learned alike.
func TestTargetsInAnyUnit(t *testing.T) {
	for _, unit := range []string{"e-200", "", "e130"} {
		lines := make([]string, 200)
		for i := range lines {
			lines[i] = fmt.Sprintf("%d%s,%d\n", i%20, unit, i%20)
		}
		file, model := put(t, "t.csv", lines...), filepath.Join(t.TempDir(), "m")
		must(t, "train", file, "--loss", "squared", "--no-tune", "--epochs", "5", "--out", model)
		first, _, _ := strings.Cut(must(t, "predict", model, put(t, "p.csv", "10\n")), "\n")
		v, err := strconv.ParseFloat(first, 64)
		if want, _ := strconv.ParseFloat("10"+unit, 64); err != nil || v < 0.9*want || v > 1.1*want {
			t.Errorf("unit %q: predicted %s, want about 10", unit, first)
		}
	}
}
