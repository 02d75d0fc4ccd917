package compare

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"polkrepro/evidence/stats"
	"polkrepro/experiments"
	"polkrepro/internal/testutil"
	"polkrepro/polk/prune"
)

// TestDocument checks that a comparison at no level has nulls, not the p of 1 that it counts with,
// that one of too few replicates has no interval, and that infinite numbers and NaN do not break
// JSON.
func TestDocument(t *testing.T) {
	apart := Comparison{Verdict: NotComparable, Reason: noRuns, Adjusted: 1, AdjustedExact: 1}
	few := Comparison{Test: stats.Test{Estimate: stats.Single(-2), P: 1, N: 2}, Levels: []float64{16}, Bend: 0.5, Adjusted: 1, AdjustedExact: 1, Verdict: TooFew}
	komp, _ := prune.Lookup("komp")
	random, _ := prune.Lookup("random")
	e := &Entry{Heuristic: random, Points: []Means{{Measured: Measured{Value: 16, Order: 15}, Runs: 1}}, Runs: []Trial{{Measured: Measured{Value: 16, Order: 15, Error: math.NaN(), Seconds: math.Inf(1)}, Replicate: 3, Process: 0.25}}}
	e.Compared = [measureCount]Comparison{few, apart, apart, apart}
	reference := &Entry{Heuristic: komp}
	for _, m := range Measures() {
		reference.Compared[m].Verdict = IsReference
	}
	res := &Result{Title: "T", Reference: "komp", MissingRuns: 4, Fields: []*FieldResult{{Name: "f", Entries: []*Entry{reference, e}}},
		Standing: &Standing{Names: []string{"komp", "random"}, Ranking: stats.Ranking{Mean: []float64{1, 2}, P: math.NaN(), CD: 0.5, Blocks: 7}}}
	text, err := json.Marshal(res)
	testutil.NoError(t, err)
	for _, want := range []string{
		`"comparisons":[]`, // of the reference
		`{"measure":"error_at_order","verdict":"too few replicates","difference":-2,"low":null,"high":null,"p":1,"p_exact":1,"interpolation_error":0.5,"replicates":2,"levels":[16]}`,
		`{"measure":"log_time_at_order","verdict":"not comparable","reason":"all runs failed or are missing","difference":null,"low":null,"high":null,"p":null,"p_exact":null,"interpolation_error":null,"replicates":0,"levels":[]}`,
		`"knob":16,"model_order":15,"error_percent":null,"training_seconds":null,`, `"replicate":3,"process_seconds":0.25`,
		`"mean_error_percent":0,"runs":1}`,
		`"standing":{"ranks":[{"name":"komp","mean_rank":1},{"name":"random","mean_rank":2}],"absent":[],"blocks":7,"p":null,"critical_difference":0.5}`,
		`"missing_runs":4`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if text, err = json.Marshal(New(&experiments.Tournament{}, "", nil, nil)); err != nil || !strings.Contains(string(text), `"fields":[]`) || strings.Contains(string(text), "standing") {
		t.Errorf("nothing compared: %s, %v", text, err)
	}
}
