package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/harness"
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

func TestTrainInTwoParts(t *testing.T) {
	rows := trees(2500)
	whole, half := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "half")
	file := put(t, "all.csv", rows...)
	must(t, "train", file, "--label", "last", "--order", "8", "--out", whole)
	must(t, "train", put(t, "first.csv", rows[:1234]...), "--label", "last", "--order", "8", "--out", half)
	must(t, "train", file, "--resume", half, "--skip", "1234")
	a, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(half)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		t.Error("the model in two parts is another one")
	}
}

func TestOwnDataWrongUse(t *testing.T) {
	file, model := put(t, "trees.csv", trees(200)...), filepath.Join(t.TempDir(), "m.polk")
	must(t, "train", file, "--label", "last", "--out", model)
	broken := put(t, "m.polk", "not a model")
	short := put(t, "short.csv", "1,2,elm\n1,oak\n")
	tests := []struct {
		code int
		want string
		args []string
	}{
		{harness.ExitUsage, "--out", []string{"train", file}},
		{harness.ExitUsage, "--label", []string{"train", file, "--label", "zero", "--out", model}},
		{harness.ExitUsage, "--format", []string{"train", "-", "--out", model}},
		{harness.ExitUsage, "--epochs is for files", []string{"train", "-", "--format", "csv", "--epochs", "2", "--out", model}},
		{harness.ExitUsage, "--loss can't be changed", []string{"train", file, "--resume", model, "--loss", "hinge"}},
		{harness.ExitUsage, "give one", []string{"train", file, "--order", "5", "--parsimony", "1", "--out", model}},
		{harness.ExitUsage, "must be one of", []string{"train", file, "--loss", "huber", "--out", model}},
		{harness.ExitUsage, "--probability", []string{"predict", model, file, "--probability"}},
		{harness.ExitFailed, "not a whole model file", []string{"predict", broken, file}},
		{harness.ExitFailed, "not a whole model file", []string{"train", file, "--resume", broken}},
		{harness.ExitFailed, "short.csv: line 2", []string{"train", short, "--label", "last", "--out", model}},
		{harness.ExitFailed, "short.csv: line 2", []string{"evaluate", model, short}},
		{harness.ExitFailed, "no such file", []string{"train", file + "x", "--out", model}},
	}
	for _, tt := range tests {
		code, _, stderr := call(t, tt.args...)
		if code != tt.code || !strings.Contains(stderr, tt.want) {
			t.Errorf("runall %s: exit status %d, want %d: %s", strings.Join(tt.args, " "), code, tt.code, stderr)
		}
	}
}
