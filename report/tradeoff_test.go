package report

import (
	"slices"
	"testing"

	"polkrepro/experiments"
	"polkrepro/record"
	"polkrepro/report/plot"
)

// TestTradeoff: each entry of a spec has a panel with its series, joined by order and apart by
// time, with their spread; a figure of one series is none.
func TestTradeoff(t *testing.T) {
	in := Input{Own: "own", Records: make(map[string]*record.Record)}
	add := func(label, method string, budget int, seed uint64, order, cpu, err float64) {
		run := experiments.Run{Task: experiments.TaskKSVM, Method: method, Seed: seed, Params: experiments.Params{Budget: budget}}
		run.Data.Name = "mine"
		id := experiments.ID(run)
		in.Planned = append(in.Planned, experiments.Planned{Run: run, ID: id, Spec: "own", Label: label, Series: label, Group: label + string(rune('a'+budget))})
		in.Records[id] = &record.Record{Header: record.Header{ID: id, Run: run}, Final: record.Final{ModelOrder: order, TestError: err, Timing: record.Timing{CPU: cpu}}}
	}
	add("bsgd", "bsgd", 20, 1, 20, 4, 0.1)
	if r := Build(in); slices.ContainsFunc(r.Figures, func(f *Figure) bool { return f.Name == "tradeoff1" }) {
		t.Error("a figure of one series")
	}
	add("bsgd", "bsgd", 20, 2, 20, 2, 0.3)
	add("bsgd", "bsgd", 10, 1, 10, 5, 0.4)
	add("another", "bsgd", 30, 1, 7, 1, 0.5) // a variant, which by its label and budget would be first
	r := Build(in)
	if r.Figures[0].Name != "tradeoff1" {
		t.Fatal("no figure")
	}
	byOrder, byTime := r.Figures[0].Drawing.(*plot.Picture).Panels, r.Figures[1].Drawing.(*plot.Picture).Panels
	if len(byOrder) != 1 || len(byOrder[0].Traces) != 2 || r.Figures[1].Name != "tradeoff1-time" {
		t.Fatalf("%d panels by order; then %s", len(byOrder), r.Figures[1].Name)
	}
	at := func(s plot.Sample) [2]float64 { return [2]float64{s.X, s.Mean} }
	if l := byOrder[0].Traces[0]; l.Apart || at(l.Curve[0]) != [2]float64{10, 40} || at(l.Curve[1]) != [2]float64{20, 20} || l.Curve[0].High != 40 || l.Curve[1].High < 34 {
		t.Errorf("by order %+v", l)
	}
	if l := byTime[0].Traces[0]; !l.Apart || at(l.Curve[0]) != [2]float64{3, 20} || at(l.Curve[1]) != [2]float64{5, 40} {
		t.Errorf("by time %+v", l)
	}
	if rows := r.Figures[0].Data(); len(rows) != 5 {
		t.Errorf("%d rows, want a header and 4 runs", len(rows))
	}
}

// TestTogether: labels that differ in their last value are one label, others stay whole.
func TestTogether(t *testing.T) {
	for want, labels := range map[string][]string{
		"POLK, K = 0.04 | 0.03":                 {"POLK, K = 0.04", "POLK, K = 0.03"},
		"POLK, order=221 | 55":                  {"POLK, order=221", "POLK, order=55"},
		"POLK, order=9,slack=2 | POLK, slack=2": {"POLK, order=9,slack=2", "POLK, slack=2"},
	} {
		if got := together(labels); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
