package compare

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/data/rows"
	"polkrepro/harness"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/online"
	"polkrepro/record"
	"polkrepro/spec"
)

// mixedRows are 150 rows of a table with an id, gaps, a category, the label in the middle, and a target.
func mixedRows() string {
	var b strings.Builder
	b.WriteString("id,x,tree,soil,y\n")
	for i := range 150 {
		x, y, soil := float64(i*37%101)/100, i*53%89, []string{"clay", "sand", "peat"}[i%3]
		gap := map[bool]string{true: "NA", false: fmt.Sprint(x)}[i%17 == 3]
		fmt.Fprintf(&b, "t%d,%s,%s,%s,%d\n", i, gap, []string{"elm", "oak"}[min(1, int(x+float64(i%3)/3))], soil, y)
	}
	return b.String()
}

// TestExport: for each method whose model a file can hold, the file predicts on the training table what
// the model in memory does.
func TestExport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.csv")
	testutil.NoError(t, os.WriteFile(file, []byte(mixedRows()), 0o666))
	for task, entries := range map[string][]string{
		spec.TaskKSVM: {
			"method: polk, batch_size: 4, learning_rate: 1, pruner: komp-order, pruner_params: {order: 12}",
			"method: bsgd, learning_rate: 0.5, maintenance: merging, budget: 12", "method: norma, learning_rate: 1, budget: 12",
			"method: projectron, projection_error: 0.1, budget: 12", "method: forgetron, budget: 12",
			"method: nogd, learning_rate: 0.5, budget: 12, rank: 6", "method: nystrom-sgd, learning_rate: 1, budget: 12",
			"method: nystrom, budget: 12", "method: lbfgs",
		},
		spec.TaskKLR:        {"method: nystrom, budget: 12"},
		spec.TaskRegression: {"method: krls, noise: 0.01, budget: 12"},
	} {
		label, categories := "tree", "soil"
		if task == spec.TaskRegression {
			label, categories = "y", "soil, tree"
		}
		for _, entry := range entries {
			text := fmt.Sprintf(`name: bench-rows
title: Rows
task: %s
data: {name: rows, train: %s, holdout: 0.2, format: csv, label: %s, ignore: [id], categories: [%s], missing: mean, scale: standard}
kernel: {type: gaussian, bandwidth: 1}
regularizer: 1e-5
repeats: [{draws: [1, 2], seeds: [1]}]
stopping: {samples: 240}
evaluation: {every: 240, tail: 1, train_limit: 10}
methods:
  - {%s}
`, task, file, label, categories, entry)
			t.Run(entry, func(t *testing.T) { exported(t, text, file, rows.Column{Name: label}) })
		}
	}
}

// exported exports the one setting of a spec, and compares the file's predictions with the model's.
func exported(t *testing.T, text, file string, label rows.Column) {
	ctx, opt := context.Background(), Options{Note: t.Logf, Sources: []data.Source{{Label: label}}}
	parsed, err := spec.Parse(filepath.Join(filepath.Dir(file), "spec.yaml"), []byte(text))
	testutil.NoError(t, err)
	plan, err := parsed[0].Plan(spec.ProfileQuick, spec.PlanOptions{})
	testutil.NoError(t, err)
	records := make(map[string]*record.Record)
	for _, p := range plan {
		records[p.ID] = new(record.Record)
	}
	m, err := Export(ctx, plan, records, opt)
	testutil.NoError(t, err)
	var saved, got bytes.Buffer
	testutil.NoError(t, m.SaveForPrediction(&saved))
	read, err := online.ReadForPrediction(&saved)
	testutil.NoError(t, err)
	testutil.NoError(t, read.Predict(ctx, online.Source{Path: file}, rows.FormatCSV, false, &got))

	set, err := data.LoadWhole(plan[0].Run.Data)
	testutil.NoError(t, err)
	run := plan[0]
	if run.Run.Samples = 300; run.Run.Batch() { // two passes over 120 rows, and so over 150
		run.Run.Samples = 150
	}
	f, err := harness.Fit(ctx, run, set, opt.Options)
	testutil.NoError(t, err)
	lines := strings.Fields(got.String())
	if len(lines) != 150 {
		t.Fatalf("%d predictions", len(lines))
	}
	for i, line := range lines {
		scores := make([]float64, f.Outputs)
		new(kernel.Scorer).Scores64(f, 1, set.Train.Row(i), scores, 1) // no score is so near another that float32 decides otherwise
		if set.Labels != nil {
			if want := set.Labels[int(loss.Decide(scores))]; line != want {
				t.Errorf("row %d: the file predicts %s, the model %s", i+1, line, want)
			}
			continue
		}
		v, err := strconv.ParseFloat(line, 64)
		if want := scores[0]*set.Facts["target_deviation"] + set.Facts["target_mean"]; err != nil || math.Abs(v-want) > 1e-9 {
			t.Errorf("row %d: the file predicts %s, the model %v", i+1, line, want)
		}
	}
	if n := slices.Compact(slices.Sorted(slices.Values(lines))); len(n) < 2 {
		t.Errorf("only %q is predicted", n)
	}
}

// TestExportChoice: the best setting is that of the least mean error whose runs all ended and whose model
// a file can hold, and the smaller one of two equal ones.
func TestExportChoice(t *testing.T) {
	var plan []spec.Planned
	records := make(map[string]*record.Record)
	for i, of := range []struct {
		method       string
		error, order float64
	}{{"csvc", 0.1, 40}, {"fogd", 0.1, 50}, {"lbfgs", 0.15, 8193}, {"bsgd", 0.2, 8}, {"norma", 0.2, 7}, {"polk", 0.21, 3}, {"nogd", 0, 5}} {
		for seed := range 2 {
			id := fmt.Sprint(of.method, seed)
			plan = append(plan, spec.Planned{ID: id, Series: of.method, Group: of.method, Run: spec.Run{Method: of.method}})
			if r := new(record.Record); i < 6 || seed == 0 { // the last one lacks a run
				r.Final.TestError, r.Final.ModelOrder = of.error+float64(2*seed-1)/100, of.order
				records[id] = r
			}
		}
	}
	var said []string
	for _, c := range candidates(plan, records) {
		said = append(said, fmt.Sprint(c.Series, " ", c.held()))
	}
	want := []string{"csvc false", "fogd false", "lbfgs false", "norma true", "bsgd true", "polk true"}
	if !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
	if _, err := Export(t.Context(), plan[:6], records, Options{}); err == nil || !strings.Contains(err.Error(), "no setting") {
		t.Error(err)
	}
}
