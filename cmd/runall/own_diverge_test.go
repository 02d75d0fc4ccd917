package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/harness"
	"polkrepro/online"
)

// TestDivergingTraining: training that diverges fails with a lower learning rate in
// its message, and leaves a model that predicts; where nothing was learned it
// leaves the file that was there.
func TestDivergingTraining(t *testing.T) {
	var rows []string
	for i := range 3000 {
		x := float64(i % 40)
		if i >= 1500 {
			x = 7
		}
		rows = append(rows, fmt.Sprintf("%.4f,%.4f,%.4f\n", 3+math.Sin(x), x, x/2))
	}
	file, model := put(t, "rows.csv", rows...), filepath.Join(t.TempDir(), "model")
	args := []string{"train", file, "--loss", "squared", "--learning-rate", "3", "--bandwidth", "0.3", "--scale", "none", "--order", "40", "--no-tune"}
	code, stdout, stderr := call(t, append(args, "--out", model)...)
	if code != harness.ExitFailed || !strings.Contains(stderr, "training diverges") || !strings.Contains(stderr, "learning rate 3 is too large: lower it to 0.5") ||
		!strings.Contains(stderr, file+": line ") || strings.Contains(stderr, "NaN") || !strings.Contains(stdout, "rows, model order 40") {
		t.Errorf("exit %d, %s%s", code, stdout, stderr)
	}
	if out := must(t, "evaluate", model, file); strings.Contains(out, "NaN") || strings.Contains(out, "Inf") {
		t.Errorf("the model that is left: %s", out)
	}
	must(t, append(args, "--learning-rate", "0.5", "--out", model)...)
	before, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	same := put(t, "same.csv", rows[1500:]...)
	args[1] = same
	code, _, stderr = call(t, append(args, "--batch", "256", "--learning-rate", "1e5", "--out", model)...)
	after, err := os.ReadFile(model)
	if code != harness.ExitFailed || err != nil {
		t.Errorf("from the start: exit %d, %s, %v", code, stderr, err)
	}
	if m, err := readModel(model, online.Read); err != nil || string(before) != string(after) && m.Rows() > 256 {
		t.Errorf("from the start: a model of %d rows is left, %v", m.Rows(), err)
	}
}
