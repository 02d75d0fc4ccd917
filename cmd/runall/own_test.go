package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// trees returns n rows of CSV: two features, then a word that depends on them.
func trees(n int) []string {
	rng := rand.New(rand.NewPCG(1, 0))
	rows := make([]string, n)
	for i := range rows {
		x := 3 * rng.Float64()
		rows[i] = fmt.Sprintf("%.3f,%.3f,%s\n", x, rng.Float64(), []string{"elm", "oak", "yew"}[int(x)])
	}
	return rows
}

// put writes a file into a folder of its own and returns its path.
func put(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// must calls a command line that succeeds, and returns what it prints.
func must(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := call(t, args...)
	if code != 0 {
		t.Fatalf("runall %s: exit status %d: %s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

func TestTrainPredictEvaluate(t *testing.T) {
	rows := trees(3000)
	file, model := put(t, "trees.csv", rows...), filepath.Join(t.TempDir(), "m.polk")
	out := must(t, "train", file, "--label", "last", "--loss", "logistic", "--epochs", "2", "--out", model)
	if !strings.Contains(out, "6000 rows") || !strings.Contains(out, "3 classes") {
		t.Errorf("train prints %q", out)
	}
	predicted := strings.Fields(must(t, "predict", model, file))
	wrong := 0
	for i, row := range rows {
		if !strings.HasSuffix(row, ","+predicted[i]+"\n") {
			wrong++
		}
	}
	if len(predicted) != len(rows) || wrong > len(rows)/10 {
		t.Errorf("%d predictions for %d rows, %d wrong", len(predicted), len(rows), wrong)
	}
	if want := fmt.Sprintf("error        %.2f %%\n", 100*float64(wrong)/3000); !strings.Contains(must(t, "evaluate", model, file), want) {
		t.Errorf("evaluate does not print %q", want)
	}
	if table := must(t, "predict", model, file, "--probability"); !strings.HasPrefix(table, "prediction,elm,oak,yew\n") {
		t.Errorf("probabilities %.80q", table)
	}
}
