package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"polkrepro/evidence/stats"
	"polkrepro/record"
)

// A Chart is one panel of a figure of curves as data, for a face that draws
// curves itself: readers of the page can hide, zoom into and read off its lines.
type Chart struct {
	Title  string      `json:"title"` // above the plot: (a) test risk
	XLabel string      `json:"xlabel"`
	LogX   bool        `json:"logx,omitempty"`
	LogY   bool        `json:"logy,omitempty"`
	Lines  []ChartLine `json:"lines"`
	Marks  []ChartMark `json:"marks,omitempty"`
}

// A ChartLine is one series in a chart, in the look that it has in every picture:
// means and, where there are, their 90 % intervals. X has to increase, and be
// positive on a logarithmic axis; all slices have its length, Low and High may be
// nil. A number that is not finite is a gap.
type ChartLine struct {
	Label  string    `json:"label"` // the same in all charts of a figure
	Color  string    `json:"color"` // #084594
	Dash   []float64 `json:"dash,omitempty"`
	Width  float64   `json:"width"`          // in points
	Flat   bool      `json:"flat,omitempty"` // one value for all x, of a method that sees all data at once
	X      []Number  `json:"x"`
	Mean   []Number  `json:"mean"`
	Low    []Number  `json:"low,omitempty"`
	High   []Number  `json:"high,omitempty"`
	Levels []Number  `json:"levels,omitempty"` // values that the paper prints, drawn as dotted lines
}

// A ChartMark is a value, or a range of values, that the paper's text states,
// drawn as diamonds.
type ChartMark struct {
	X     Number `json:"x"`
	Low   Number `json:"low"`
	High  Number `json:"high"`
	Color string `json:"color"`
}

// A Number is a float64 of which a chart needs six digits; one that is not
// finite is null in JSON.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, v, 'g', 6, 64), nil
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
		ch := Chart{Title: fmt.Sprintf("(%c) %s", 'a'+i, q.label), XLabel: "samples processed", LogY: q.log}
		for _, s := range c.series {
			if s.shows(q) {
				ch.Lines = append(ch.Lines, c.chartLine(s, q, int(pn.xmax)))
			}
		}
		for _, m := range pn.marks {
			ch.Marks = append(ch.Marks, ChartMark{Number(m.x), Number(m.low), Number(m.high), m.look.hex()})
		}
		out = append(out, ch)
	}
	return out
}

// chartLine makes the line of a series; that of a batch method reaches from edge
// to edge.
func (c *curves) chartLine(s *Series, q quantity, xmax int) ChartLine {
	l := s.look()
	line := ChartLine{Label: s.Label, Color: l.hex(), Width: l.width.Points(), Flat: s.batch()}
	for _, d := range l.dash {
		line.Dash = append(line.Dash, d.Points())
	}
	values := finiteAt(s.Runs, q.of)
	samples := thinned(slices.Sorted(maps.Keys(values)))
	if line.Flat {
		last := values[samples[len(samples)-1]]
		line.add(0, last)
		line.add(xmax, last)
	} else {
		for _, x := range samples {
			line.add(x, values[x])
		}
		for _, v := range c.levels(s, q) {
			line.Levels = append(line.Levels, Number(v))
		}
	}
	if slices.Equal(line.Low, line.Mean) {
		line.Low, line.High = nil, nil
	}
	return line
}

// add adds the mean of values, with its 90 % interval, at a number of samples.
func (l *ChartLine) add(samples int, values []float64) {
	e := stats.Single(math.NaN())
	if len(values) > 0 {
		e = stats.Mean(values)
	}
	l.X, l.Mean = append(l.X, Number(samples)), append(l.Mean, Number(e.Value))
	l.Low, l.High = append(l.Low, Number(e.Low)), append(l.High, Number(e.High))
}

// mostPoints is how many evaluations of a curve a chart holds.
const mostPoints = 300

// thinned returns at most mostPoints of the numbers of samples, evenly spaced,
// the first and the last among them.
func thinned(samples []int) []int {
	n := len(samples)
	if n <= mostPoints {
		return samples
	}
	out := make([]int, mostPoints)
	for i := range out {
		out[i] = samples[i*(n-1)/(mostPoints-1)]
	}
	return out
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
