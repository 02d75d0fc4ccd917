package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What evaluate --json writes is as its schema has it, for every loss.
func TestEvaluateJSON(t *testing.T) {
	dir := t.TempDir()
	rows := trees(900)
	file := put(t, "trees.csv", rows...)
	var numbers []string
	for i := range 900 {
		numbers = append(numbers, fmt.Sprintf("%.3f,%d\n", math.Sin(float64(i)), i))
	}
	for loss, files := range map[string][2]string{
		"hinge":    {file, file},
		"logistic": {file, put(t, "elm.csv", slices.Repeat([]string{"0.5,0.5,elm\n"}, 5)...)}, // oak has no rows
		"squared":  {put(t, "numbers.csv", numbers...), put(t, "same.csv", "1,5\n", "1,6\n")}, // R² has no value
	} {
		model := filepath.Join(dir, loss)
		label := map[bool]string{true: "first", false: "last"}[loss == "squared"]
		must(t, "train", files[0], "--loss", loss, "--label", label, "--no-tune", "--out", model)
		for _, rows := range files {
			text := must(t, "evaluate", model, rows, "--json")
			v := validJSON(t, "evaluate", text)
			if info := v.(map[string]any); info["version"] != 1.0 || info["rows"] == 0.0 {
				t.Errorf("%s: %v", loss, info)
			}
		}
	}
}

// The text has the figures of all rows first, and then what it says by class; of
// many classes the ten that do worst, and the largest confusions, while --json has
// all.
func TestEvaluateText(t *testing.T) {
	sequential(t)
	model, file := filepath.Join(t.TempDir(), "m"), put(t, "trees.csv", trees(900)...)
	must(t, "train", file, "--label", "last", "--out", model)
	lines := strings.Split(must(t, "evaluate", model, file), "\n")
	for i, want := range []string{"rows         900", "model order  ", "held out     ", "error        ", "risk         ", "", "class  rows  error", "elm", "oak", "yew", "", `label \ prediction  elm`, "elm", "oak", "yew", ""} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Fatalf("line %d of %q, want %q", i+1, lines, want)
		}
	}
	var many []string
	for i := range 1200 {
		many = append(many, fmt.Sprintf("%d.%d,%d,c%02d\n", i%30, i%7, i%11, i%30))
	}
	file = put(t, "many.csv", many...)
	must(t, "train", file, "--label", "last", "--loss", "logistic", "--no-tune", "--out", model)
	text := must(t, "evaluate", model, file)
	if !strings.Contains(text, "\nlog-loss     ") || !strings.Contains(text, "\ncalibration  ") || !strings.Contains(text, "\nclass (10 of 30)  rows") ||
		!strings.Contains(text, "\nlabel (10 of ") || strings.Count(text, "\n") != 4+2+2*(1+11) {
		t.Errorf("30 classes:\n%s", text)
	}
	var info Evaluation
	if err := json.Unmarshal([]byte(must(t, "evaluate", model, file, "--json")), &info); err != nil {
		t.Fatal(err)
	}
	all := 0
	for i, row := range info.Confusion {
		for j, n := range row {
			if all += n; i == j && n != info.Classes[i].Correct {
				t.Errorf("class %d: %d rows are right, and %d", i, n, info.Classes[i].Correct)
			}
		}
	}
	if len(info.Confusion) != 30 || all != 1200 {
		t.Errorf("%d rows of %d classes", all, len(info.Confusion))
	}
}
