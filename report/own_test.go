package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"polkrepro/compare"
	"polkrepro/internal/testutil"
	"polkrepro/record"
	"polkrepro/report/plot"
	"polkrepro/spec"
)

// TestNumbersKept compares the counts of numbers that each learner keeps with counts by hand for
// the five classes and two features of multidist. Batch methods have none.
func TestNumbersKept(t *testing.T) {
	mine, err := spec.Parse("own.yaml", []byte(`
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
	testutil.NoError(t, err)
	plan, err := mine[0].Plan(spec.ProfileQuick, spec.PlanOptions{})
	testutil.NoError(t, err)
	want := map[string]float64{
		"POLK":                   368, // 16·7 + 16²
		"POLK (without-inverse)": 140, // 20·7
		"BSGD (projecting)":      125, // 10·7 + 10·11/2
		"BSGD":                   70,  // 10·7
		"C-SVC":                  math.NaN(),
		"FOGD":                   300, // 30·10
		"RFF-SGD":                300,
		"Forgetron":              70,
		"NOGD":                   240, // 20·2 + 20·8 + 8·5
		"Nyström-SGD":            368, // 16·2 + 16² + 16·5
		"Projectron++":           330, // 15·7 + 15²
		"NORMA":                  210, // 30·7
	}
	got := make(map[string]float64)
	for _, p := range plan {
		order := cmp.Or(float64(p.Run.Params.Budget), p.Run.Params.PrunerParams["order"])
		got[compare.MethodName(p)] = p.Run.Numbers(order, nil)
	}
	if !maps.EqualFunc(got, want, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
		t.Errorf("kept %v, want %v", got, want)
	}
}

// TestTradeoff checks that each entry of a spec has a panel with its series and their spread,
// joined by order and separate by time. A single series has no figure.
func TestTradeoff(t *testing.T) {
	in := Input{Own: "own", Records: make(map[string]*record.Record)}
	add := func(label, method string, budget int, seed uint64, order, cpu, err float64) {
		run := spec.Run{Task: spec.TaskKSVM, Method: method, Seed: seed, Params: spec.Params{Budget: budget}}
		run.Data.Name = "mine"
		id := spec.ID(run)
		in.Planned = append(in.Planned, spec.Planned{Run: run, ID: id, Spec: "own", Label: label, Series: label, Group: label + string(rune('a'+budget))})
		in.Records[id] = &record.Record{Header: record.Header{ID: id, Run: run}, Final: record.Final{ModelOrder: order, TestError: err, Timing: record.Timing{CPU: cpu - 0.5, Pruner: 0.5}}}
	}
	add("bsgd", "bsgd", 20, 1, 20, 4, 0.1)
	if r := Build(in); slices.ContainsFunc(r.Figures, func(f *Figure) bool { return strings.HasPrefix(f.Name, "own-tradeoff") }) {
		t.Error("a figure of one series")
	}
	add("bsgd", "bsgd", 20, 2, 20, 2, 0.3)
	add("bsgd", "bsgd", 10, 1, 10, 5, 0.4)
	add("another", "bsgd", 30, 1, 7, 1, 0.5) // a variant, which by its label and budget would be first
	r := Build(in)
	if r.Figures[0].Name != "own-tradeoff1-order" || r.Figures[1].Name != "own-tradeoff1-time" {
		t.Fatalf("figures %s and %s", r.Figures[0].Name, r.Figures[1].Name)
	}
	if text := r.Runs.Text() + r.Tables[0].Text(); strings.Count(text, "CPU and µs include the time that training") != 2 || !strings.Contains(text, " 3.00 ± 1.41 ") {
		t.Errorf("the time of the heuristic's process is not in CPU (s):\n%s", text)
	}
	byOrder, byTime := r.Figures[0].Drawing.(*plot.Picture).Panels, r.Figures[1].Drawing.(*plot.Picture).Panels
	if len(byOrder) != 1 || len(byOrder[0].Traces) != 2 {
		t.Fatalf("%d panels by order", len(byOrder))
	}
	at := func(s plot.Sample) [2]float64 { return [2]float64{s.X, s.Mean} }
	if l := byOrder[0].Traces[0]; l.Apart || at(l.Curve[0]) != [2]float64{10, 40} || at(l.Curve[1]) != [2]float64{20, 20} || l.Curve[0].High != 40 || !(l.Curve[1].High >= 34) {
		t.Errorf("by order %+v", l)
	}
	if l := byTime[0].Traces[0]; !l.Apart || at(l.Curve[0]) != [2]float64{3, 20} || at(l.Curve[1]) != [2]float64{5, 40} {
		t.Errorf("by time %+v", l)
	}
	if rows := testutil.Rows(t, []byte(r.Figures[0].CSV())); len(rows) != 3 {
		t.Errorf("%d rows, want one for each series", len(rows))
	}
}

// TestCross checks the table of methods and data sets: both layouts, the marks, a label that two specs
// share, and what varies.
func TestCross(t *testing.T) {
	in := Input{Own: "first, second", Records: make(map[string]*record.Record)}
	add := func(name, series, data string, seed uint64, err float64) {
		run := spec.Run{Task: spec.TaskKSVM, Method: "bsgd", Seed: seed, Params: spec.Params{Budget: len(name + series)}}
		run.Data.Name, run.Data.Files.Holdout = data, 0.2
		id := fmt.Sprint(name, series, data, seed)
		in.Planned = append(in.Planned, spec.Planned{Run: run, ID: id, Spec: name, Label: series, Series: series, Group: name + series})
		if err > 0 {
			in.Records[id] = &record.Record{Header: record.Header{ID: id, Run: run}, Final: record.Final{TestError: err}}
		}
	}
	add("first", "POLK", "letter", 1, 0.1)
	add("first", "POLK", "letter", 2, 0.2)
	add("second", "POLK", "letter", 1, 0.12)
	add("second", "POLK", "trees", 1, 0)
	add("first", "BSGD_2", "letter", 1, 0.12)
	add("first", "BSGD_2", "trees", 1, 0.3)
	r := Build(in)
	tb := r.Cross("method×data")
	_, grid, _ := strings.Cut(tb.Text(), "\n\n")
	want := ` method               letter   trees
─────────────────────────────────────
 BSGD_2               *12.00  *30.00
 POLK (second)        *12.00       —
 POLK (first)   15.00 ± 7.07       —

Mean ± standard deviation over runs (orders of one split). The least on each data set is marked.
`
	if grid != want {
		t.Errorf("%s\nwant %s", grid, want)
	}
	latex := r.Cross("dataxmethod").LaTeX()
	for _, text := range []string{`data & BSGD\_2 & POLK (second) & POLK (first) \\`, `letter & \textbf{12.00} & \textbf{12.00} & 15.00 $\pm$ 7.07 \\`,
		`\begin{table}[t]\centering\footnotesize`, `\label{tab:polkrepro-first-and-1-more-errors}`} {
		if !strings.Contains(latex, text) {
			t.Errorf("no %s in\n%s", text, latex)
		}
	}
	if md := tb.Markdown(); !strings.Contains(md, "**12.00**") {
		t.Error(md)
	}
	tb.Header[1] = strings.Repeat("letter ", 9)
	if latex := tb.LaTeX(); !strings.Contains(latex, `\begin{table*}[t]`) || !strings.Contains(latex, `\end{table*}`) {
		t.Errorf("too wide for a column:\n%s", latex)
	}
}
