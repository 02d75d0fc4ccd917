package report

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/convergence"
	"polkrepro/experiments"
)

// studyOf writes made-up records of a profile's runs, changed by change, and
// reads them as a study.
func studyOf(t *testing.T, profile string, change func(*convergence.Record)) *convergence.Study {
	t.Helper()
	plan, err := convergence.Plan(profile)
	if err != nil {
		t.Fatal(err)
	}
	results := t.TempDir()
	for _, run := range plan {
		r := &convergence.Record{Header: convergence.Header{Run: run, Problem: convergence.Problem{
			Points: 5000, Width: 4, Height: 6, Objective: 0.7, Gap: 1e-12, Norm: 8, Start: math.Log(5)}}}
		for _, n := range run.Marks() {
			d, m := 8/math.Sqrt(1+float64(n)), 20*math.Log(float64(n))
			if run.Regime == convergence.Constant {
				d, m = max(d, 0.5*math.Sqrt(run.Rate)), min(m, 100)
			}
			r.Points = append(r.Points, convergence.Point{Samples: n, Distance: d * (1 + 0.01*float64(run.Seed)), Excess: 0.01 * d * d,
				Order: int(m), MeanOrder: m, Norm: 8, Gradient: 0.2, Separation: 0.5, Ratio: 0.9})
		}
		r.Summary = convergence.Summary{MaxOrder: 120, Ratio: 1, Checked: 1000, Direct: 0.999, Seconds: 2}
		if change != nil {
			change(r)
		}
		if err := r.Write(convergence.Dir(results)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := convergence.ReadProfile(results, profile)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// verdicts are the verdicts of Table 1's rows that have one.
func verdicts(r *Table1) string {
	var out []string
	for _, row := range r.Tables[0].Rows {
		if v := row[len(row)-1]; v != "" {
			out = append(out, v)
		}
	}
	return strings.Join(out, ", ")
}

// TestTable1Verdicts: the table says what the claims' verdicts are, and a
// record that contradicts one shows in its row alone.
func TestTable1Verdicts(t *testing.T) {
	const good = "reproduced, reproduced, reproduced, reproduced"
	if got := verdicts(NewTable1(studyOf(t, experiments.ProfileQuick, nil))); got != good {
		t.Errorf("verdicts %s", got)
	}
	stalled := studyOf(t, experiments.ProfileQuick, func(r *convergence.Record) {
		if r.Header.Run.Method == convergence.POLK && r.Header.Run.Regime == convergence.Diminishing {
			for i := range r.Points {
				r.Points[i].Distance = 5
			}
		}
	})
	if got := verdicts(NewTable1(stalled)); got != "deviates, reproduced, reproduced, reproduced" {
		t.Errorf("verdicts %s of a run that stalls", got)
	}
	none, err := convergence.Read(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := NewTable1(none)
	if got := verdicts(r); got != "not run, not run, not run, not run" || len(r.Figures) != 0 {
		t.Errorf("without records: verdicts %s, %d figures", got, len(r.Figures))
	}
}

// TestTable1Faces: every face of every table is sound and has no character
// that it can't write.
func TestTable1Faces(t *testing.T) {
	r := NewTable1(studyOf(t, experiments.ProfileQuick, nil))
	for _, table := range append(r.Tables, r.Tests) {
		for _, row := range table.Rows {
			if len(row) != len(table.Header) {
				t.Errorf("%s: %d cells under %d headings: %q", table.Name, len(row), len(table.Header), row)
			}
		}
		var tex, text bytes.Buffer
		if err := table.LaTeX(&tex); err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(tex.String(), "\n")
		checkLaTeX(t, body, len(table.Header))
		if i := strings.IndexByte(body, '?'); i >= 0 {
			t.Errorf("%s: LaTeX lacks a character: %s", table.Name, body[max(0, i-20):i+5])
		}
		if err := table.Text(&text); err != nil || !strings.Contains(text.String(), table.Title) {
			t.Errorf("%s: error %v, text %.40q", table.Name, err, text.String())
		}
	}
}

// TestTable1Figures: of a whole study and of one of whose runs most are
// missing, the pictures are drawn, and the numbers behind them are those of the
// records.
func TestTable1Figures(t *testing.T) {
	whole := studyOf(t, experiments.ProfileQuick, nil)
	parts := *whole
	parts.Series = append([]convergence.Series(nil), whole.Series...)
	for i := range parts.Series {
		if i != 1 {
			parts.Series[i].Records = nil
		}
	}
	for _, s := range []*convergence.Study{whole, &parts} {
		missing := 0
		for _, f := range NewTable1(s).Figures {
			if f.Missing != "" {
				missing++
				continue
			}
			renderAll(t, f.content.drawing(), "svg")
			if strings.Contains(plainLetters(f.content.drawing().(*picture).legend[0].text), "?") {
				t.Errorf("%s: legend %q", f.Name, f.content.drawing().(*picture).legend[0].text)
			}
		}
		if s == whole && missing != 0 || s != whole && missing != 1 { // that of the other K
			t.Errorf("%d figures are missing", missing)
		}
	}
	f := NewTable1(whole).Figures[0]
	var b bytes.Buffer
	if err := f.CSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, x := range whole.Series {
		if x.Run.Method == convergence.FSGD || x.Run.Regime == convergence.Diminishing || x.Run.Parsimony == 0.3 {
			for _, r := range x.Records {
				want += len(r.Points)
			}
		}
	}
	if len(rows) != 1+want || rows[1][3] != exact(whole.Series[0].Records[0].Points[0].Distance) {
		t.Errorf("%d rows, want %d; the first is %q", len(rows), 1+want, rows[1])
	}
}

// TestLogarithmicX: on a logarithmic x axis equal ratios have equal lengths, and
// the axis is labelled at powers of ten.
func TestLogarithmicX(t *testing.T) {
	pn := panel{xmin: 10, xmax: 1000, traces: []trace{{look: table1Looks[0], curve: []sample{{10, 1, 1, 1}, {1000, 2, 2, 2}}}}}
	x := pn.plot().X
	if got := x.Norm(100); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("100 is at %v between 10 and 1000", got)
	}
	var labels []string
	for _, tick := range x.Tick.Marker.Ticks(10, 1000) {
		if tick.Label != "" {
			labels = append(labels, tick.Label)
		}
	}
	if got := strings.Join(labels, " "); got != "10 100 1000" {
		t.Errorf("labels %s", got)
	}
}

// TestReportWithTable1: a report on a study has its tables first and its
// figures last, and writes them; one without has none.
func TestReportWithTable1(t *testing.T) {
	in := fixtureInput()
	in.Convergence = studyOf(t, experiments.ProfileQuick, nil)
	r := build(in, fixturePaper(), fixtureDraw)
	dir := t.TempDir()
	paths, err := r.WriteAll(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(paths, "\n")
	for _, name := range []string{"tables/table1.tex", "tables/table1-series.md", "tables/table1-tests.txt", "figures/table1a.svg", "figures/table1b.pdf", "figures/table1c.csv"} {
		if !strings.Contains(all, filepath.FromSlash(name)) {
			t.Errorf("%s was not written", name)
		}
	}
	index, err := os.ReadFile(filepath.Join(dir, "index.md"))
	if err != nil || r.Tables[0].Name != "table1" || !bytes.Contains(index, []byte("figures/table1a.svg")) {
		t.Errorf("first table %s, error %v", r.Tables[0].Name, err)
	}
	in.Convergence = nil
	if r := build(in, fixturePaper(), fixtureDraw); r.Table1 != nil || strings.HasPrefix(r.Tables[0].Name, "table1") {
		t.Error("a report without a study has a Table 1")
	}
}
