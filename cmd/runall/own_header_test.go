package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"polkrepro/harness"
)

// A header that contradicts the model's is an error of every command that reads rows
// for a model.
func TestOtherHeader(t *testing.T) {
	rows := trees(300)
	model := filepath.Join(t.TempDir(), "m.polk")
	must(t, "train", put(t, "t.csv", slices.Concat([]string{"x,y,tree\n"}, rows)...), "--label", "last", "--no-tune", "--out", model)
	const wrong = "line 1: the header names other columns, or in another order, than the training data; delete the header to use them all the same"
	swapped := put(t, "p6.csv", slices.Concat([]string{"y,x,tree\n"}, rows)...)
	for _, args := range [][]string{
		{"evaluate", model, swapped},
		{"predict", model, swapped},
		{"train", swapped, "--resume", model},
		{"evaluate", model, swapped, "--header", "yes"},
		{"predict", model, put(t, "p6.csv", "id,x,y\n0,1,2\n")},
		{"evaluate", model, put(t, "p6.csv", slices.Concat([]string{"x,y,species\n"}, rows)...)},
	} {
		if code, _, stderr := call(t, args...); code != harness.ExitFailed || !strings.Contains(stderr, "p6.csv: "+wrong) {
			t.Errorf("%v: exit status %d: %s", args, code, stderr)
		}
	}
	must(t, "evaluate", model, put(t, "t.csv", slices.Concat([]string{"x, y,Tree\n"}, rows)...))
	must(t, "predict", model, put(t, "t.csv", "x,y\n1,2\n"))
	must(t, "predict", model, put(t, "t.csv", "x,y,\n1,2,\n"))
	must(t, "evaluate", model, put(t, "t.csv", rows...))
}

// A model whose training data had no header takes the first row of a file, and of a
// pipe, for a row, whatever it looks like, unless it is told otherwise.
func TestNoHeaderBefore(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.polk")
	must(t, "train", put(t, "t.csv", trees(300)...), "--label", "last", "--no-tune", "--out", model)
	defer func(in *os.File) { os.Stdin = in }(os.Stdin)
	for first, want := range map[string]int{"1,2,word\n": 3, "0,1,2\n": 3, "0,1,label\n": 3, "7,8,9\n": 3, "x,y,tree\n": 0} {
		file := put(t, "p.csv", first, "0.5,1.5,elm\n", "0.25,3.5,oak\n")
		code, fromFile, stderr := call(t, "predict", model, file)
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		os.Stdin = in
		piped, fromPipe, _ := call(t, "predict", model, "-")
		if n := strings.Count(fromFile, "\n"); n != want || fromPipe != fromFile || code != piped || (code == 0) != (want > 0) {
			t.Errorf("%q: %d predictions of the file, %d of the pipe, exit status %d and %d: %s", first, n, strings.Count(fromPipe, "\n"), code, piped, stderr)
		}
		if want == 0 && !strings.Contains(stderr, "if it is a header, use --header yes") {
			t.Errorf("%q: %s", first, stderr)
		}
		if out := must(t, "predict", model, file, "--header", "yes"); want == 0 && strings.Count(out, "\n") != 2 {
			t.Errorf("%q: %q", first, out)
		}
	}
}

// Rows of zeros are rows, and predict does without labels.
func TestRowsOfZerosAndNoLabels(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.polk")
	rows := strings.Repeat("1 1:1\n2\n", 200)
	zeros := put(t, "zeros.libsvm", rows)
	must(t, "train", zeros, "--out", model)
	if out := must(t, "evaluate", model, zeros); !strings.Contains(out, "error        0.00 %") {
		t.Error(out)
	}
	if out := must(t, "predict", model, put(t, "p.csv", ",0\nnan,1\n")); out != "2\n1\n" {
		t.Errorf("predictions %q", out)
	}
	none := put(t, "none.libsvm", "1\n2\n")
	if code, _, stderr := call(t, "train", none, "--out", model); code != harness.ExitFailed || !strings.Contains(stderr, "none.libsvm: no row has a feature") {
		t.Errorf("exit status %d: %s", code, stderr)
	}
}

// A column that numbers the rows is learned, but not without a word.
func TestWarningOfRowNumbers(t *testing.T) {
	numbered := func(header string) string {
		lines := []string{header}
		for i, row := range trees(300) {
			lines = append(lines, fmt.Sprintf("%d,%s", i+5, row))
		}
		return put(t, "t.csv", lines...)
	}
	plain := put(t, "t.csv", slices.Concat([]string{"x,y,tree\n"}, trees(300))...)
	for file, want := range map[string]string{
		numbered("id,x,y,tree\n"): `warning: column 1 ("id") seems to number the rows`,
		numbered(",x,y,tree\n"):   `warning: column 1 ("") seems`,
		numbered("n,x,y,tree\n"):  `warning: column 1 ("n") seems`,
		numbered(""):              "warning: column 1 seems",
		plain:                     "",
	} {
		code, _, stderr := call(t, "train", file, "--label", "last", "--no-tune", "--out", filepath.Join(t.TempDir(), "m"))
		if code != 0 || !strings.Contains(stderr, want) || want == "" && strings.Contains(stderr, "warning") {
			t.Errorf("exit status %d, want %q: %s", code, want, stderr)
		}
	}
}

// Skipping a whole file is a mistake.
func TestSkipAllRows(t *testing.T) {
	file, model := put(t, "t.csv", trees(600)...), filepath.Join(t.TempDir(), "m")
	for _, flags := range [][]string{nil, {"--no-tune", "--epochs", "2"}, {"--epochs", "3", "--scale", "none", "--bandwidth", "1", "--features", "2", "--classes", "elm,oak,yew", "--no-tune"}} {
		args := append([]string{"train", file, "--label", "last", "--skip", "601", "--out", model}, flags...)
		if code, _, stderr := call(t, args...); code != harness.ExitFailed || !strings.Contains(stderr, "--skip 601: the file has 600 rows") {
			t.Errorf("%v: exit status %d: %s", flags, code, stderr)
		}
	}
}

// Labels that hardly repeat are no classes, for train and for bench.
func TestLabelsThatAreTargets(t *testing.T) {
	lines := make([]string, 300)
	for i := range lines {
		lines[i] = fmt.Sprintf("%d.5,%d,%d\n", i*i, i*37%101, i*53%89)
	}
	file := put(t, "t.csv", lines...)
	for _, args := range [][]string{{"train", file, "--out", filepath.Join(t.TempDir(), "m")}, {"bench", file, "--results", t.TempDir()}} {
		if code, _, stderr := call(t, args...); code == 0 || !strings.Contains(stderr, "most rows have a label that no other row has: is it the right column, or is this a regression") {
			t.Errorf("%s: exit status %d: %s", args[0], code, stderr)
		}
	}
}

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

// One class alone is named.
func TestOneClass(t *testing.T) {
	file := put(t, "t.csv", slices.Repeat([]string{"1,2,elm\n", "2,3,elm\n"}, 30)...)
	for _, flags := range [][]string{nil, {"--no-tune"}} {
		args := append([]string{"train", file, "--label", "last", "--out", filepath.Join(t.TempDir(), "m")}, flags...)
		if code, _, stderr := call(t, args...); code != harness.ExitFailed || !strings.Contains(stderr, `rows have the label "elm": classification needs two classes`) {
			t.Errorf("%v: exit status %d: %s", flags, code, stderr)
		}
	}
}
