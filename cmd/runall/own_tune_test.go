package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// spirals returns n rows of CSV: a point on one of two arms, then which.
func spirals(n int) []string {
	rng := rand.New(rand.NewPCG(11, 0))
	rows := make([]string, n)
	for i := range rows {
		class := rng.IntN(2)
		t := 3 * math.Pi * math.Sqrt(0.02+0.98*rng.Float64())
		a := t + math.Pi*float64(class)
		rows[i] = fmt.Sprintf("%.4f,%.4f,%d\n", t*math.Cos(a)+0.2*rng.NormFloat64(), t*math.Sin(a)+0.2*rng.NormFloat64(), class)
	}
	return rows
}

// With no flag but the label's column, train learns spirals; with --no-tune it
// has the fixed defaults, whose learning rate is constant.
func TestTrainWithoutSettings(t *testing.T) {
	rows := spirals(2000)
	file, rest := put(t, "train.csv", rows[:1000]...), put(t, "test.csv", rows[1000:]...)
	for _, tt := range []struct {
		flags        []string
		least, below float64 // of the error, in percent
		says         string
	}{
		{nil, 0, 5, "  chosen\n"},
		{[]string{"--no-tune"}, 20, 60, "the median distance between the first 1000 rows\n"},
	} {
		model := filepath.Join(t.TempDir(), "m.polk")
		code, _, stderr := call(t, append([]string{"train", file, "--label", "last", "--out", model}, tt.flags...)...)
		if code != 0 || !strings.Contains(stderr, tt.says) {
			t.Errorf("train %v: exit status %d, no %q in\n%s", tt.flags, code, tt.says, stderr)
		}
		var wrong float64
		_, text, _ := strings.Cut(must(t, "evaluate", model, rest), "error")
		if _, err := fmt.Sscan(text, &wrong); err != nil || wrong < tt.least || wrong >= tt.below {
			t.Errorf("train %v: error %v %% (%v), want %v to %v", tt.flags, wrong, err, tt.least, tt.below)
		}
	}
}
