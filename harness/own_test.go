package harness

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/spec"
)

// ownSpec is a spec on a user's file; %s is its data.
const ownSpec = `name: own
title: My own rows
task: ksvm
data: %s
kernel: {type: gaussian, bandwidth: 1}
regularizer: 1e-4
methods:
  - {method: polk, learning_rate: 1, batch_size: 4, parsimony: 0.01}
  - {method: bsgd, learning_rate: 1, budget: 8, maintenance: merging}
  - {method: csvc}
stopping: {epochs: 2}
evaluation: {every: 50, tail: 2, train_limit: 0}
`

const ownData = "{train: rows.csv, label: kind, holdout: 0.25, scale: standard}"

// writeOwn writes a spec and, unless they are empty, its rows to a folder, and returns the path of
// the spec.
func writeOwn(t *testing.T, dir, spec, rows string) string {
	t.Helper()
	if rows != "" {
		testutil.NoError(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(rows), 0o666))
	}
	path := filepath.Join(dir, "own.yaml")
	testutil.NoError(t, os.WriteFile(path, []byte(spec), 0o666))
	return path
}

// ownRows returns rows of two classes that a Gaussian kernel separates.
func ownRows() string {
	var b strings.Builder
	b.WriteString("x,y,kind\n")
	for i := range 200 {
		x, y := i*37%101, i*53%89
		fmt.Fprintf(&b, "%d,%d,%s\n", x, y, map[bool]string{true: "elm", false: "oak"}[x > y])
	}
	return b.String()
}

// TestOwnData: a spec on files is run and recorded like any other. Its runs are kept when the files
// move, and repeated when they change.
func TestOwnData(t *testing.T) {
	dir, results := t.TempDir(), t.TempDir()
	run := func(path string, opt Options) (*Outcome, []spec.Planned, error) {
		plan, err := PlanNamed([]string{path}, spec.ProfileFull, spec.PlanOptions{}, opt.Finder)
		testutil.NoError(t, err)
		opt.Results = results
		out, err := Reproduce(t.Context(), plan, opt)
		return out, plan, err
	}
	spec := writeOwn(t, dir, fmt.Sprintf(ownSpec, ownData), ownRows())
	out, plan, err := run(spec, Options{})
	if err != nil || len(out.Finished) != 3 {
		t.Fatalf("%+v, %v", out, err)
	}
	have := readAll(t, results)
	for _, p := range plan {
		r := have.Records[p.ID]
		if r == nil || !(r.Final.TestError <= 0.2) || r.Header.Run.Data.Name != "rows" || len(r.Header.Run.Problems()) > 0 ||
			r.Header.DataSums["train rows.csv"] != p.Run.Data.Files.Train.SHA256 {
			t.Errorf("%s: %+v", p.Series, r)
		}
		if b, err := os.ReadFile(r.Path); err != nil || strings.Contains(string(b), dir) {
			t.Errorf("the record names the folder of the file, %v", err)
		}
	}

	moved := t.TempDir()
	out, _, err = run(writeOwn(t, moved, fmt.Sprintf(ownSpec, ownData), ownRows()), Options{})
	if err != nil || len(out.Kept) != 3 {
		t.Errorf("moved: %+v, %v", out, err)
	}
	out, _, err = run(writeOwn(t, moved, fmt.Sprintf(ownSpec, ownData), ownRows()+"1,2,oak\n"), Options{})
	if err != nil || len(out.Finished) != 3 {
		t.Errorf("changed: %+v, %v", out, err)
	}
	missing := writeOwn(t, t.TempDir(), fmt.Sprintf(ownSpec, ownData), "")
	out, _, err = run(missing, Options{})
	if err != nil || len(out.Unavailable) != 1 || out.Unavailable[0].Runs != 3 || !strings.Contains(out.Unavailable[0].Why, "missing file "+filepath.Join(filepath.Dir(missing), "rows.csv")) {
		t.Errorf("missing: %+v, %v", out, err)
	}
	if _, _, err = run(missing, Options{RequireData: true}); !errors.Is(err, ErrMissingData) {
		t.Errorf("missing and required: %v", err)
	}
	testutil.NoError(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(ownRows()+"3,2,elm\n"), 0o666))
	if _, err := Reproduce(t.Context(), plan, Options{Results: t.TempDir()}); !errors.Is(err, data.ErrCorrupt) || !strings.Contains(err.Error(), "the file has changed") {
		t.Errorf("changed after it was planned: %v", err)
	}
}

// TestOwnRegression: numbers are scaled to targets with mean 0 and standard deviation 1. The error
// is the root-mean-square error on this scale, and is far below that of predicting the mean.
func TestOwnRegression(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,price\n")
	for i := range 300 {
		x := float64(i*37%301) / 50
		fmt.Fprintf(&b, "%v,%v\n", x, 250_000+40_000*math.Sin(x))
	}
	prices := `name: prices
title: Prices
task: squared-error
data: {train: rows.csv, label: price, holdout: 0.2}
kernel: {type: gaussian, bandwidth: 0.7}
regularizer: 1e-6
methods:
  - {method: polk, learning_rate: 0.5, batch_size: 4, parsimony: 0.01}
  - {method: krls, noise: 1e-4, budget: 30}
stopping: {epochs: 20}
evaluation: {every: 1000, tail: 3, train_limit: 0}
`
	plan, err := PlanNamed([]string{writeOwn(t, t.TempDir(), prices, b.String())}, spec.ProfileFull, spec.PlanOptions{}, data.Finder{})
	testutil.NoError(t, err)
	records := reproduced(t, plan, Options{})
	r := records[plan[0].ID]
	if e := r.Final.TestError; !(e > 0 && e < 0.1) {
		t.Errorf("the error is %v of the targets' deviation", e)
	}
	if e := records[plan[1].ID].Final.TestError; !(e > 0 && e < r.Final.TestError/10) { // the targets have no noise
		t.Errorf("KRLS: the error is %v, POLK's is %v", e, r.Final.TestError)
	}
	if m, d := r.Header.DataFacts["target_mean"], r.Header.DataFacts["target_deviation"]; !(math.Abs(m-250_000) <= 10_000) || !(math.Abs(d-28_000) <= 3_000) {
		t.Errorf("targets of mean %v and deviation %v", m, d)
	}
}

// TestRegressionError: the error of the function 0 is the root mean square of the targets.
func TestRegressionError(t *testing.T) {
	split := &data.Split{N: 3, Dim: 1, X: []float32{0, 1, 2}, Y: []float64{1, -2, 2}}
	o := NewObjective(loss.SquaredError{}, 1, &data.Set{Train: split, Test: split}, 0)
	if m := o.Evaluate(1, kernel.NewExpansion(kernel.Gaussian{Bandwidth: 1}, 1, 1), 1); !(math.Abs(m.TestError-math.Sqrt(3)) <= 1e-15) || !(math.Abs(m.TestRisk-1.5) <= 1e-15) {
		t.Errorf("error %v and risk %v, want √3 and 1.5", m.TestError, m.TestRisk)
	}
}

// TestPredictions: the predictions of each run are for the test rows of its split, and are wrong as
// often as its record says. Runs without a file of predictions are repeated.
func TestPredictions(t *testing.T) {
	results := t.TempDir()
	path := writeOwn(t, t.TempDir(), fmt.Sprintf(ownSpec, ownData)+"repeats: [{draws: [1, 2]}]\n", ownRows())
	plan, err := PlanNamed([]string{path}, spec.ProfileFull, spec.PlanOptions{}, data.Finder{})
	testutil.NoError(t, err)
	for _, want := range []int{6, 0, 1} {
		out, err := Reproduce(t.Context(), plan, Options{Results: results, Predictions: true})
		if err != nil || len(out.Finished) != want {
			t.Fatalf("%+v, %v; want %d runs", out, err, want)
		}
		if want == 0 {
			os.Remove(predictionsFile(results, plan[0].ID))
		}
	}
	table, err := Predictions(results, plan)
	if err != nil || len(table) != 1+2*50 || len(table[0]) != 3+3 {
		t.Fatalf("%v, %d rows of %q", err, len(table), table[0])
	}
	have := readAll(t, results)
	lines := strings.Split(ownRows(), "\n")
	for _, p := range plan {
		column, wrong := slices.Index(table[0], p.Series), 0.0
		for _, row := range table[1:] {
			if n, _ := strconv.Atoi(row[1]); !strings.HasSuffix(lines[n], row[2]) {
				t.Fatalf("row %q is not %q", row, lines[n])
			}
			if row[0] == strconv.FormatUint(p.Run.Data.Files.SplitSeed, 10) && row[column] != row[2] {
				wrong++
			}
		}
		points := have.Records[p.ID].Points
		if got := points[len(points)-1].TestError; !(math.Abs(got-wrong/50) <= 1e-12) {
			t.Errorf("%s: %v of 50 rows wrong, the record has error %v", p.Series, wrong, got)
		}
	}
}
