//go:build check

package harness

import (
	"math"
	"slices"
	"testing"

	"polkrepro/record"
	"polkrepro/spec"
)

// TestRoughRates compares roughRates with the medians over the recorded runs of each method, and
// how far a time estimated by them is from that of a recorded run.
func TestRoughRates(t *testing.T) {
	have, err := record.ReadDir("../results/reference/records")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := PlanAll(spec.EmbeddedAll(), spec.ProfileFull, spec.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rates := make(map[string][]float64)
	var factors []float64
	for _, p := range spec.Distinct(plan) {
		if r := have.Records[p.ID]; r != nil {
			rate := r.Final.Elapsed / p.Cost
			rates[p.Run.Method] = append(rates[p.Run.Method], rate)
			factors = append(factors, math.Exp(math.Abs(math.Log(rate/roughRates[p.Run.Method]))))
		}
	}
	for method, all := range rates {
		slices.Sort(all)
		if got, want := roughRates[method], record.Digits(all[len(all)/2], 2); got != want {
			t.Errorf("%q: %v, is %v", method, want, got)
		}
	}
	slices.Sort(factors)
	if half, most := factors[len(factors)/2], factors[len(factors)*9/10]; half > 2 || most > 10 {
		t.Errorf("half of the times are estimated within a factor of %.3g, and 90 %% of %.3g", half, most)
	}
}
