package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"polkrepro/record"
)

// A Chart is one panel of a figure of curves as data, for a face that draws
// curves itself.
type Chart struct {
	Tag    string // (a)
	YLabel string
	Log    bool    // logarithmic y axis
	XMax   float64 // the most samples processed
	Lines  []ChartLine
	Marks  []ChartMark
}

// A ChartLine is one series in a chart, in the look that it has in every
// picture.
type ChartLine struct {
	Label   string
	Color   string    // #084594
	Dash    []float64 // lengths of dashes and gaps in points; none for a solid line
	Width   float64   // in points
	Batch   bool      // one value, of a method that sees all data at once
	Points  []ChartPoint
	Printed []float64 // values that the paper prints for the series
}

// A ChartPoint is the values of the runs at one number of samples, as far as
// they are finite.
type ChartPoint struct {
	Samples int
	Values  []float64
}

// A ChartMark is a value, or a range of values, that the paper's text states.
type ChartMark struct {
	X, Low, High float64
	Color        string
}

// Charts returns the panels of a figure of curves; a figure of another kind,
// or one that is missing, has none.
func (f *Figure) Charts() []Chart {
	c, ok := f.content.(*curves)
	if !ok {
		return nil
	}
	var out []Chart
	for i, q := range c.quantities() {
		pn := c.panel(q)
		ch := Chart{Tag: fmt.Sprintf("(%c)", 'a'+i), YLabel: q.label, Log: q.log, XMax: pn.xmax}
		for _, s := range c.series {
			if s.shows(q) {
				ch.Lines = append(ch.Lines, c.chartLine(s, q))
			}
		}
		for _, m := range pn.marks {
			ch.Marks = append(ch.Marks, ChartMark{m.x, m.low, m.high, m.look.hex()})
		}
		out = append(out, ch)
	}
	return out
}

// chartLine makes the line of a series.
func (c *curves) chartLine(s *Series, q quantity) ChartLine {
	l := s.look()
	line := ChartLine{Label: s.Label, Color: l.hex(), Width: l.width.Points(), Batch: s.batch()}
	for _, d := range l.dash {
		line.Dash = append(line.Dash, d.Points())
	}
	if !line.Batch {
		line.Printed = c.levels(s, q)
	}
	at := finiteAt(s.Runs, q.of)
	for x, vs := range at {
		line.Points = append(line.Points, ChartPoint{x, vs})
	}
	slices.SortFunc(line.Points, func(a, b ChartPoint) int { return cmp.Compare(a.Samples, b.Samples) })
	return line
}

// finiteAt is the finite values, over runs, of a quantity at every number of
// samples, from 0 on, at which a run was evaluated.
func finiteAt(runs []*record.Record, of func(record.Point) float64) map[int][]float64 {
	at := map[int][]float64{}
	for _, r := range runs {
		for _, p := range r.Points {
			if p.Samples < 0 {
				continue
			}
			vs := at[p.Samples]
			if v := of(p); !math.IsNaN(v) && !math.IsInf(v, 0) {
				vs = append(vs, v)
			}
			at[p.Samples] = vs
		}
	}
	return at
}

// hex is the look's colour as in a style sheet.
func (l look) hex() string {
	return fmt.Sprintf("#%02x%02x%02x", l.color.R, l.color.G, l.color.B)
}

// SVG draws the figure. It is an error to draw one that is missing.
func (f *Figure) SVG() ([]byte, error) {
	if f.content == nil {
		return nil, fmt.Errorf("report: %s is missing: %s", f.Name, f.Missing)
	}
	return safely(func() ([]byte, error) { return render(f.content.drawing(), "svg") })
}
