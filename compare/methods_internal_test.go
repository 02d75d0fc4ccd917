package compare

import (
	"fmt"
	"math"
	"testing"

	"polkrepro/evidence/stats"
	"polkrepro/polk/prune"
	"polkrepro/record"
	"polkrepro/spec"
)

// methodRuns returns made-up runs of BSGD, its reference POLK, and C-SVC on the given number of
// splits. The errors of BSGD and C-SVC are 2 points above POLK's at 20 elements, with noise.
func methodRuns(splits int, reached float64) ([]spec.Planned, map[string]*record.Record) {
	var plan []spec.Planned
	records := make(map[string]*record.Record)
	for k := range splits {
		add := func(method string, params spec.Params, order, percent float64) {
			p := spec.Planned{ID: fmt.Sprint(method, order, k), Spec: "mine", Label: method, Run: spec.Run{Method: method, Params: params, Seed: uint64(k + 1)}}
			p.Run.Data.Name, p.Run.Data.Files.Holdout, p.Run.Data.Files.SplitSeed = "rows", 0.2, uint64(k+1)
			plan = append(plan, p)
			noise := 0.1 * math.Sin(float64(7*k)+order)
			records[p.ID] = &record.Record{
				Points: []record.Point{{Samples: 100}},
				Final:  record.Final{TestError: (percent + noise) / 100, ModelOrder: order, Timing: record.Timing{CPU: 1}},
			}
		}
		for _, order := range []float64{5, 20} {
			add("bsgd", spec.Params{Budget: int(order)}, order*reached, 14-order/5)
			add("polk", spec.Params{PrunerParams: prune.Params{"order": order}}, order, 12-order/5)
		}
		add("csvc", spec.Params{}, 400, 10)
	}
	return append(plan[1:], plan[0]), records // POLK's first
}

// TestMethods checks that methods are compared at the requested model orders, or at the largest if
// they have none, and that splits have a larger variance than as many independent sets.
func TestMethods(t *testing.T) {
	res := NewMethods(methodRuns(5, 0.97))
	if res.Reference != "POLK" || len(res.DataSets) != 2 || len(res.DataSets[0].Entries) != 2 {
		t.Fatalf("%+v", res)
	}
	for _, f := range res.DataSets {
		c := f.Entries[1].Compared[ErrorAtOrder]
		if f.Reference().Name != "POLK" || c.Verdict != Worse || !(math.Abs(float64(c.Difference)-2) <= 0.2) {
			t.Errorf("%s: %+v", f.Entries[1].Name, c)
		}
	}
	var differences []float64
	plan, records := methodRuns(5, 0.97)
	for k := range 5 {
		at := func(method string, order float64) float64 {
			return 100 * records[fmt.Sprint(method, order, k)].Final.TestError
		}
		differences = append(differences, at("csvc", 400)-at("polk", 20))
	}
	plain, got := stats.PairedT(differences, 0), res.DataSets[1].Entries[1].Compared[ErrorAtOrder]
	within(t, "width of the interval", float64(got.High-got.Low)/(plain.High-plain.Low), 1.5, 1e-9) // √(1 + 5·¼)
	says(t, res.DataSets[0].Basis, "5 splits of one file", "Model orders: 5, 20;")
	says(t, res.DataSets[1].Basis, "5 splits of one file", "POLK has 20 elements;", "C-SVC 400.")
	says(t, NewMethods(methodRuns(5, 0.5)).DataSets[0].Basis, "BSGD, 2.5 of 5; BSGD, 10 of 20.")

	// A method may end with fewer elements than asked for, not with more.
	for reached, want := range map[float64]Verdict{0.5: Worse, 5: NotComparable} {
		if c := NewMethods(methodRuns(5, reached)).DataSets[0].Entries[1].Compared[ErrorAtOrder]; c.Verdict != want {
			t.Errorf("%v of the order asked for: %+v", reached, c)
		}
	}
	if c := NewMethods(methodRuns(1, 1)).DataSets[0].Entries[1].Compared[ErrorAtOrder]; c.Verdict != TooFew {
		t.Errorf("single runs: %+v", c)
	}
	if got := NewMethods(plan[:1], records); got != nil {
		t.Errorf("a method alone: %+v", got)
	}
}
