package report

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"polkrepro/report/plot"
)

// TestCharts: a chart has what the picture's panel has, in the same looks; figures of
// other kinds have none.
func TestCharts(t *testing.T) {
	lines, marks, printed := 0, 0, 0
	for _, f := range built(mixedInput()).Figures {
		charts := f.Charts()
		if (f.Series == nil) != (charts == nil) {
			t.Errorf("%s: %d series, %d charts", f.Name, len(f.Series), len(charts))
		}
		for i, ch := range charts {
			pn := f.Drawing.(*plot.Picture).Panels[i]
			if !strings.HasPrefix(pn.Title, ch.Title[:len("(a)")]) || !strings.HasSuffix(ch.Title, pn.YLabel) || ch.LogY != pn.LogY || len(ch.Lines) != len(pn.Traces) || len(ch.Marks) != len(pn.Marks) {
				t.Fatalf("%s: chart %+v of panel %s", f.Name, ch, pn.Title)
			}
			for j, l := range ch.Lines {
				tr := pn.Traces[j]
				if l.Label != tr.Label || len(l.X) != len(tr.Curve) || l.Color != tr.Hex() || len(l.Dash) != len(tr.Dash) || len(l.Levels) != len(tr.Levels) || !slices.IsSorted(l.X) {
					t.Errorf("%s: %+v, want that of %+v", f.Name, l, tr)
				}
				lines, printed = lines+1, printed+len(l.Levels)
			}
			marks += len(ch.Marks)
		}
	}
	if lines < 12 || marks < 3 || printed < 5 {
		t.Errorf("%d lines, %d marks, %d printed values are too few for a test", lines, marks, printed)
	}
}

// TestChartLine: a band is the range of the runs, as in the picture, and not there where
// all runs are one. What is not finite is a gap. A chart holds the first and the last of
// more points than it has room for.
func TestChartLine(t *testing.T) {
	l := chartLine(plot.Trace{Curve: []plot.Sample{{X: 1, Mean: 2, Low: 1, High: 3}, plot.Single(2, math.NaN())}})
	b, err := json.Marshal(l)
	if err != nil || !strings.Contains(string(b), `"mean":[2,null],"low":[1,null],"high":[3,null]`) {
		t.Errorf("%s, %v", b, err)
	}
	if l := chartLine(plot.Trace{Curve: []plot.Sample{plot.Single(1, 1)}}); l.Low != nil || l.High != nil {
		t.Errorf("a band of one run: %+v", l)
	}
	for _, v := range []float64{math.Inf(1), math.Inf(-1)} {
		if b, err := json.Marshal(Number(v)); err != nil || string(b) != "null" {
			t.Errorf("%g is %s, %v", v, b, err)
		}
	}
	curve := make([]plot.Sample, 10*mostPoints)
	for i := range curve {
		curve[i] = plot.Single(float64(i), 1)
	}
	if got := thinned(curve); len(got) != mostPoints || got[0].X != 0 || got[mostPoints-1].X != 10*mostPoints-1 {
		t.Errorf("%d points from %v", len(got), got[0])
	}
}
