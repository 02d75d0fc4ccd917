package report

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestCharts compares the charts of all figures with the pictures' panels:
// the same lines in the same looks through the same means, and the same marks.
func TestCharts(t *testing.T) {
	r := built(mixedInput())
	lines, marks, printed := 0, 0, 0
	for _, f := range r.Figures {
		charts := f.Charts()
		c, ok := f.content.(*curves)
		if !ok {
			if charts != nil {
				t.Errorf("%s has no curves and %d charts", f.Name, len(charts))
			}
			continue
		}
		for i, pn := range c.drawing().(*picture).panels {
			ch := charts[i]
			if !strings.HasPrefix(pn.tag, ch.Title[:len("(a)")]) || !strings.HasSuffix(ch.Title, pn.ylabel) || ch.LogY != pn.log || len(ch.Lines) != len(pn.traces) || len(ch.Marks) != len(pn.marks) {
				t.Fatalf("%s: chart %+v of panel %s", f.Name, ch, pn.tag)
			}
			for j, tr := range pn.traces {
				lines++
				printed += len(tr.levels)
				checkLine(t, ch.Lines[j], tr, pn.xmax)
			}
			for j, m := range pn.marks {
				marks++
				if got := ch.Marks[j]; got.X != Number(m.x) || got.Low != Number(m.low) || got.High != Number(m.high) {
					t.Errorf("%s: mark %v, in the picture %v", f.Name, got, m)
				}
			}
		}
	}
	if lines < 12 || marks < 3 || printed < 5 {
		t.Errorf("%d lines, %d marks, %d printed values are too few for a test", lines, marks, printed)
	}
}

func checkLine(t *testing.T, l ChartLine, tr trace, xmax float64) {
	t.Helper()
	c := tr.look.color
	if want := fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B); l.Color != want || len(l.Dash) != len(tr.look.dash) || len(l.Levels) != len(tr.levels) {
		t.Errorf("%s: %s, dashes %v, printed %v; the look is %v, the levels %v", l.Label, l.Color, l.Dash, l.Levels, tr.look, tr.levels)
	}
	if l.Flat && (len(l.X) != 2 || l.X[0] != 0 || l.X[1] != Number(xmax)) {
		t.Errorf("%s: at %v, want from edge to edge", l.Label, l.X)
	}
	if len(l.X) != len(tr.curve) {
		t.Fatalf("%s: %d points, in the picture %d", l.Label, len(l.X), len(tr.curve))
	}
	for i, want := range tr.curve {
		got := float64(l.Mean[i])
		if float64(l.X[i]) != want.x || math.Abs(got-want.mean) > 1e-12*math.Abs(want.mean) || math.IsNaN(got) != math.IsNaN(want.mean) {
			t.Errorf("%s: %g at %g, want %g at %g", l.Label, got, l.X[i], want.mean, want.x)
		}
	}
}

// TestChartInterval compares a band with Student's interval from a table: t = 2.920
// for two degrees of freedom at 95 % (one side).
func TestChartInterval(t *testing.T) {
	var l ChartLine
	l.add(5, []float64{1, 2, 3})
	half := 2.920 * 1 / math.Sqrt(3)
	if math.Abs(float64(l.Low[0])-(2-half)) > 1e-3 || math.Abs(float64(l.High[0])-(2+half)) > 1e-3 {
		t.Errorf("interval [%g, %g], want 2 ± %g", l.Low[0], l.High[0], half)
	}
}

// TestChartGaps: no finite value is a gap, and so is a number that is not finite; a
// chart holds the first and the last of more points than it has room for.
func TestChartGaps(t *testing.T) {
	var l ChartLine
	l.add(1, []float64{1})
	l.add(2, nil)
	b, err := json.Marshal(l)
	if err != nil || !strings.Contains(string(b), `"mean":[1,null]`) {
		t.Errorf("%s, %v", b, err)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if b, err := json.Marshal(Number(v)); err != nil || string(b) != "null" {
			t.Errorf("%g is %s, %v", v, b, err)
		}
	}
	samples := make([]int, 10*mostPoints)
	for i := range samples {
		samples[i] = i
	}
	if got := thinned(samples); len(got) != mostPoints || got[0] != 0 || got[mostPoints-1] != 10*mostPoints-1 {
		t.Errorf("%d points from %d to %d", len(got), got[0], got[len(got)-1])
	}
}
