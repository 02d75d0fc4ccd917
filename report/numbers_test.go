package report

import (
	"maps"
	"math"
	"testing"

	"polkrepro/experiments"
	"polkrepro/record"
)

// TestNumbersKept: a report for programs has how many numbers each learner keeps, counted
// by hand here for the five classes and two features of multidist, and none for batch
// methods and series without runs.
func TestNumbersKept(t *testing.T) {
	spec, err := experiments.Parse("own.yaml", []byte(`
include: [base/multidist.yaml]
name: own
title: Learners
task: ksvm
methods:
  - {method: polk, pruner: komp-order, pruner_params: {order: 16}}
  - {method: polk, label: without-inverse, pruner: oldest, pruner_params: {order: 20}}
  - {method: bsgd, label: projecting, budget: 10, maintenance: projection}
  - {method: bsgd, budget: 10}
  - {method: csvc, cost: 1}
  - {method: fogd, learning_rate: 1, budget: 30}
  - {method: forgetron, budget: 10}
  - {method: nogd, learning_rate: 1, budget: 20, rank: 8}
  - {method: norma, learning_rate: 1, budget: 30}
  - {method: nystrom-sgd, learning_rate: 1, budget: 16}
  - {method: projectron, projection_error: 0.1, budget: 15}
  - {method: rff-sgd, learning_rate: 1, budget: 30}
repeats: [{draws: figure}]
`))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := spec.Plan(experiments.ProfileQuick, experiments.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Own: "own", Planned: plan, Records: make(map[string]*record.Record)}
	for _, p := range plan {
		if p.Run.Method == "norma" { // not run
			continue
		}
		order := p.Run.Params.Budget
		if p.Run.Method == experiments.MethodPOLK {
			order = int(p.Run.Params.PrunerParams["order"])
		}
		in.Records[p.ID] = &record.Record{
			Header: record.Header{ID: p.ID, Run: p.Run},
			Points: []record.Point{{Type: "point", Samples: p.Run.Samples, ModelOrder: order}},
			Final:  record.Final{Samples: p.Run.Samples, ModelOrder: float64(order)},
		}
	}
	want := map[string]float64{
		"POLK":                   368, // 16·7 + 16²
		"POLK (without-inverse)": 140, // 20·7
		"BSGD (projecting)":      125, // 10·7 + 10·11/2
		"BSGD":                   70,  // 10·7
		"C-SVC":                  math.NaN(),
		"FOGD":                   360, // 30·(2 + 10)
		"RFF-SGD":                360,
		"Forgetron":              70,
		"NOGD":                   240, // 20·2 + 20·8 + 8·5
		"Nyström-SGD":            368, // 16·2 + 16² + 16·5
		"Projectron++":           330, // 15·7 + 15²
		"NORMA":                  math.NaN(),
	}
	got := make(map[string]float64)
	for _, s := range Build(in).Document().Series {
		got[s.Label] = float64(s.Numbers)
	}
	if !maps.EqualFunc(got, want, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
		t.Errorf("kept %v, want %v", got, want)
	}
}
