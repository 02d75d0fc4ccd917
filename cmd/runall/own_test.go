package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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
	must(t, "train", file, "--label", "last", "--order", "8", "--no-tune", "--out", whole)
	must(t, "train", put(t, "first.csv", rows[:1234]...), "--label", "last", "--order", "8", "--no-tune", "--out", half)
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

// A training that a bad row has stopped goes on in the same file only, unless
// it is told how many rows to leave out.
func TestResumeUnfinished(t *testing.T) {
	rows := trees(2500)
	dir := t.TempDir()
	bad, good := put(t, "bad.csv", append(slices.Clone(rows[:1500]), "1,2,fir\n")...), put(t, "good.csv", rows...)
	model, whole := filepath.Join(dir, "m"), filepath.Join(dir, "whole")
	args := []string{"--label", "last", "--classes", "elm,oak,yew", "--bandwidth", "0.4", "--no-tune"}
	if code, _, stderr := call(t, append([]string{"train", bad, "--out", model}, args...)...); code != harness.ExitFailed || !strings.Contains(stderr, "To go on: runall train") {
		t.Fatalf("exit status %d: %s", code, stderr)
	}
	other := put(t, "other.csv", trees(1)[0], "1,2,elm\n")
	code, _, stderr := call(t, "train", other, "--resume", model)
	if code != harness.ExitFailed || !strings.Contains(stderr, "other.csv: the model was trained on other rows") || !strings.Contains(stderr, "the file has 2 rows, the model learned 1500") || !strings.Contains(stderr, "--skip 0") {
		t.Errorf("another file: exit status %d: %s", code, stderr)
	}
	if code, _, stderr := call(t, "train", good, "--resume", model, "--epochs", "2"); code != harness.ExitUsage || !strings.Contains(stderr, "--epochs") {
		t.Errorf("--epochs: exit status %d: %s", code, stderr)
	}
	must(t, "train", other, "--resume", model, "--skip", "0", "--out", filepath.Join(dir, "else"))
	must(t, "train", good, "--resume", model)
	must(t, append([]string{"train", good, "--out", whole}, args...)...)
	a, errA := os.ReadFile(model)
	b, errB := os.ReadFile(whole)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("the model is another one (%v, %v)", errA, errB)
	}
}

func TestOwnDataWrongUse(t *testing.T) {
	sequential(t)
	file, model := put(t, "trees.csv", trees(200)...), filepath.Join(t.TempDir(), "m.polk")
	must(t, "train", file, "--label", "last", "--out", model)
	broken := put(t, "m.polk", "not a model")
	short := put(t, "short.csv", "1,2,elm\n1,oak\n3,4,elm\n")
	tests := []struct {
		code int
		want string
		args []string
	}{
		{harness.ExitUsage, "want FILE", []string{"train"}},
		{harness.ExitUsage, "--out", []string{"train", file}},
		{harness.ExitUsage, "--label", []string{"train", file, "--label", "zero", "--out", model}},
		{harness.ExitUsage, "--format", []string{"train", "-", "--out", model}},
		{harness.ExitUsage, "--epochs is for files", []string{"train", "-", "--format", "csv", "--epochs", "2", "--out", model}},
		{harness.ExitUsage, "--loss can't be changed", []string{"train", file, "--resume", model, "--loss", "hinge"}},
		{harness.ExitUsage, "takes no parameter order", []string{"train", file, "--order", "5", "--pruner", "none", "--out", model}},
		{harness.ExitUsage, "name=number", []string{"train", file, "--pruner", "nearest", "--pruner-params", "5", "--out", model}},
		{harness.ExitUsage, "at least 0", []string{"train", file, "--kernel", "polynomial", "--offset", "-1", "--out", model}},
		{harness.ExitUsage, "--kernel can't be changed", []string{"train", file, "--resume", model, "--kernel", "gaussian"}},
		{harness.ExitUsage, "not a regular file", []string{"train", os.DevNull, "--out", model}},
		{harness.ExitUsage, "give one", []string{"train", file, "--order", "5", "--parsimony", "1", "--out", model}},
		{harness.ExitUsage, "must be one of", []string{"train", file, "--loss", "huber", "--out", model}},
		{harness.ExitUsage, "--probability", []string{"predict", model, file, "--probability"}},
		{harness.ExitFailed, "incomplete or corrupt model file", []string{"predict", broken, file}},
		{harness.ExitFailed, "incomplete or corrupt model file", []string{"train", file, "--resume", broken}},
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
