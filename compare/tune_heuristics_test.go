package compare

import (
	"errors"
	"slices"
	"testing"

	"polkrepro/harness"
	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
	"polkrepro/polk/prune"
	"polkrepro/spec"
)

// TestComparison checks that the comparison is the golden one, and that a finished search is not
// repeated.
func TestComparison(t *testing.T) {
	if testing.Short() {
		t.Skip("a search of hundreds of runs: minutes under the race detector, and the commands' tests make one")
	}
	opt := options(t, 250)
	heuristics := []string{"komp", "coherence", "merging"}
	text, err := TuneHeuristics(t.Context(), opt, heuristics, nil)
	testutil.NoError(t, err)
	golden.Check(t, "testdata/comparison.yaml", string(text))
	var said []string
	opt.Before, opt.Note = text, func(format string, _ ...any) { said = append(said, format) }
	repeated, err := TuneHeuristics(t.Context(), opt, heuristics, nil)
	if err != nil || string(repeated) != string(text) || len(said) != 1 {
		t.Errorf("again: %v, said %q", err, said)
	}
	if _, err := TuneHeuristics(t.Context(), opt, heuristics[:2], nil); !errors.Is(err, harness.ErrUsage) {
		t.Errorf("the spec of other heuristics: %v", err)
	}
}

// TestSizeSearch checks that a level that no value reaches moves the size parameter by a step of its grid,
// within its range, and that a level between distant values gets two more beside it. The search
// keeps the values next to the levels.
func TestSizeSearch(t *testing.T) {
	ended := func(value, order float64) *trial {
		return &trial{value: value, Setting: harness.Setting{Runs: 1, Order: order}}
	}
	for _, tt := range []struct {
		levels []int
		want   []float64
	}{
		{[]int{10}, []float64{0.2}},
		{[]int{100}, []float64{0.9}},
		{[]int{20}, []float64{0.2, 0.476}}, // a value leads to the level itself
		{[]int{30}, []float64{0.456, 0.647}},
		{[]int{50}, []float64{0.672, 0.9}},
	} {
		q := sizeSearch{
			param: prune.Param{Name: "threshold", Grid: []float64{0.4, 0.8}, Above: prune.Bound(0), Most: prune.Bound(1)},
			tried: []*trial{ended(0.4, 20), ended(0.8, 50), {value: 0.1}}, // the last one failed
			run:   spec.Planned{Run: spec.Run{Params: spec.Params{PrunerParams: prune.Params{}}}},
		}
		var got []float64
		for _, next := range q.next(&tuning{size: sizes{levels: tt.levels}}) {
			got = append(got, next.value)
			if next.run.Run.Params.PrunerParams["threshold"] != next.value || q.run.Run.Params.PrunerParams["threshold"] != 0 {
				t.Errorf("run of %v: %v", next.value, next.run.Run.Params)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("levels %v: next %v, want %v", tt.levels, got, tt.want)
		}
	}
	q := new(sizeSearch)
	for i, order := range []float64{1, 8, 20, 21, 60, 100, 200, 300} {
		q.tried = append(q.tried, ended(float64(i+1), order))
	}
	var orders []float64
	for _, v := range q.kept(&sizes{levels: []int{10, 100}}) {
		orders = append(orders, v.Order)
	}
	if !slices.Equal(orders, []float64{8, 20, 60, 200}) {
		t.Errorf("orders %v", orders)
	}
}
