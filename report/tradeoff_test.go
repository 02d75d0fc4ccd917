package report

import (
	"slices"
	"testing"

	"polkrepro/experiments"
	"polkrepro/record"
)

// TestTradeoff: each entry of a spec is one line through its series, by order and by time,
// and a figure of one series is none.
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
	if r, err := Build(in); err != nil || slices.ContainsFunc(r.Figures, func(f *Figure) bool { return f.Name == "tradeoff1" }) {
		t.Errorf("a figure of one series, %v", err)
	}
	add("bsgd", "bsgd", 20, 2, 20, 2, 0.3)
	add("bsgd", "bsgd", 10, 1, 10, 5, 0.4)
	add("other", "bsgd", 7, 1, 7, 1, 0.5)
	r, err := Build(in)
	if err != nil || r.Figures[0].Name != "tradeoff1" {
		t.Fatalf("no figure, %v", err)
	}
	p := r.Figures[0].content.drawing().(*picture)
	byOrder, byTime := p.panels[0].traces, p.panels[1].traces
	if len(byOrder) != 2 || len(byTime) != 2 || len(p.legend) != 2 {
		t.Fatalf("%d and %d lines, %d entries in the legend", len(byOrder), len(byTime), len(p.legend))
	}
	if want := []sample{single(10, 40), single(20, 20)}; !slices.Equal(byOrder[0].curve, want) {
		t.Errorf("by order %v, want %v", byOrder[0].curve, want)
	}
	if want := []sample{single(3, 20), single(5, 40)}; !slices.Equal(byTime[0].curve, want) {
		t.Errorf("by time %v, want %v", byTime[0].curve, want)
	}
	if rows := r.Figures[0].content.rows(); len(rows) != 5 {
		t.Errorf("%d rows, want a header and 4 runs", len(rows))
	}
}
