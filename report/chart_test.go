package report

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestCharts compares the charts of all figures with the pictures' panels:
// the same lines in the same looks through the same means, and the same marks.
func TestCharts(t *testing.T) {
	r := build(mixedInput(), fixturePaper(), fixtureDraw)
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
		for i, pn := range c.picture().panels {
			ch := charts[i]
			if ch.Tag != pn.tag || ch.YLabel != pn.ylabel || ch.Log != pn.log || ch.XMax != pn.xmax || len(ch.Lines) != len(pn.traces) || len(ch.Marks) != len(pn.marks) {
				t.Fatalf("%s: chart %+v of panel %s", f.Name, ch, pn.tag)
			}
			for j, tr := range pn.traces {
				lines++
				printed += len(tr.levels)
				checkLine(t, ch.Lines[j], tr)
			}
			for j, m := range pn.marks {
				marks++
				if got := ch.Marks[j]; got.X != m.x || got.Low != m.low || got.High != m.high {
					t.Errorf("%s: mark %v, in the picture %v", f.Name, got, m)
				}
			}
		}
	}
	if lines < 12 || marks < 3 || printed < 5 {
		t.Errorf("%d lines, %d marks, %d printed values are too few for a test", lines, marks, printed)
	}
}

func checkLine(t *testing.T, l ChartLine, tr trace) {
	t.Helper()
	c := tr.look.color
	if want := fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B); l.Color != want || len(l.Dash) != len(tr.look.dash) || len(l.Printed) != len(tr.levels) {
		t.Errorf("%s: %s, dashes %v, printed %v; the look is %v, the levels %v", l.Label, l.Color, l.Dash, l.Printed, tr.look, tr.levels)
	}
	if l.Batch {
		return // its curve is drawn across the panel
	}
	if len(l.Points) != len(tr.curve) {
		t.Fatalf("%s: %d points, in the picture %d", l.Label, len(l.Points), len(tr.curve))
	}
	for i, p := range l.Points {
		want := tr.curve[i]
		if got := mean(p.Values); float64(p.Samples) != want.x || got != want.mean && !(math.IsNaN(got) && math.IsNaN(want.mean)) {
			t.Errorf("%s: %g at %d, want %g at %g", l.Label, got, p.Samples, want.mean, want.x)
		}
	}
}

// TestSVG compares a figure's picture with the file that is written of it.
func TestSVG(t *testing.T) {
	r := build(mixedInput(), fixturePaper(), fixtureDraw)
	drawn, missing := 0, 0
	for _, f := range r.Figures {
		svg, err := f.SVG()
		if f.Missing != "" {
			missing++
			if err == nil || !strings.Contains(err.Error(), f.Missing) {
				t.Errorf("%s is missing: %v", f.Name, err)
			}
			continue
		}
		drawn++
		want, werr := render(f.content.drawing(), "svg")
		if err != nil || werr != nil || !bytes.Equal(svg, want) {
			t.Errorf("%s: %d bytes, want %d; %v, %v", f.Name, len(svg), len(want), err, werr)
		}
	}
	if drawn == 0 || missing == 0 {
		t.Errorf("%d figures drawn, %d missing", drawn, missing)
	}
}

// TestCellWords compares the words of a cell with its lines in the terminal.
func TestCellWords(t *testing.T) {
	r := build(mixedInput(), fixturePaper(), fixtureDraw)
	differences := 0
	for _, tab := range r.Tables {
		for _, blk := range tab.Blocks {
			for _, row := range blk.Rows {
				c := &row.Cell
				words := c.Words()
				for q, w := range words {
					if w.Paper != c.Printed[q] || (w.Ours == "") != (c.Why != "") || w.Quantity != quantityNames[q] {
						t.Errorf("%s: %+v", c.ID, w)
					}
				}
				if c.Why != "" {
					continue
				}
				for _, l := range c.ours() {
					for q, v := range l.values {
						w := words[q]
						got := map[string]string{"ours": w.Ours, "Δ": w.Difference}
						if want, ok := got[l.label]; ok && v != want {
							t.Errorf("%s, %s: %q, in the terminal %q", c.ID, l.label, want, v)
						}
						if l.label == "Δ" && v != "" {
							differences++
						}
					}
				}
			}
		}
	}
	if differences < 10 {
		t.Errorf("%d differences are too few for a test", differences)
	}
}

// TestIndexNamesThePage looks for the link to the report that is one page.
func TestIndexNamesThePage(t *testing.T) {
	r := build(mixedInput(), fixturePaper(), fixtureDraw)
	for _, name := range []string{"", "report.html"} {
		r.Page = name
		var out bytes.Buffer
		if err := r.Index(&out); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "[report.html](report.html)"); got != (name != "") {
			t.Errorf("page %q: named %v", name, got)
		}
	}
}
