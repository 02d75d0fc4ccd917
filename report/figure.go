package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"polkrepro/experiments"
	"polkrepro/report/plot"
	"polkrepro/report/table"
)

// A Figure is one of the paper's figures, or one that supplements them.
type Figure struct {
	Name    string // stem of its files: figure2
	Title   string
	Caption string
	Alt     string // what the picture shows, for those who can't see it (default: Title)
	Missing string // why there is no picture; empty where there is one
	Drawing plot.Drawing
	Data    func() [][]string // the numbers behind it as lines of a CSV file, a header first; nil if there are none
	Series  []*Series         // of a figure of curves over samples that has a panel for each quantity

	number int // 0 for a figure that is not the paper's
}

// figures makes the paper's figures and that of the stand-ins; parts has the others.
func (b *builder) figures() []*Figure {
	var out []*Figure
	for _, pf := range b.paper.Figures {
		f := &Figure{Name: "figure" + pf.ID, Title: fmt.Sprintf("Figure %d. %s", pf.Number, pf.Title), number: pf.Number}
		switch pf.Kind {
		case experiments.FigureCurves:
			b.curves(f, pf, b.series(func(p experiments.Planned) bool { return slices.Contains(p.Figures, pf.ID) }))
		case experiments.FigureDecision:
			b.decisions(f, pf)
		case experiments.FigureData:
			b.dataSets(f, pf)
		}
		out = append(out, f)
	}
	others := b.streams(func(p experiments.Planned) bool {
		s := experiments.SupplementOf(p.Spec)
		return b.notOfPaper(p) || s != "" && s != experiments.OpenQuestions // whose dozens of series have a table
	}, func(i int) string { return fmt.Sprintf("S%d", i+2) })
	if f := b.standIns(); f != nil {
		out = append(out, f)
	}
	return append(out, others...)
}

// hasNumbers says whether there are numbers behind the figure.
func (f *Figure) hasNumbers() bool { return f.Missing == "" && f.Data != nil }

// CSV is a CSV file of the numbers behind the figure, empty if there are none:
//
//   - of curves, a line for each evaluation of each run, the error rate in per
//     cent;
//   - of decision surfaces, a line for each node of a grid on the plane and
//     each dictionary element, with the class decided for there and, where
//     scores are logits, the probability of that class;
//   - of data in the plane, a line for each point shown and each mean of a
//     component, with its class;
//   - of the forest plot, a line for each test, with its place on the axis;
//   - of the combinations of alternatives, a line for all that reproduce the same
//     with as many choices by result.
func (f *Figure) CSV() string {
	if !f.hasNumbers() {
		return ""
	}
	return table.CSV(f.Data())
}

// SVG draws the figure, which must not be missing.
func (f *Figure) SVG() ([]byte, error) { return plot.Render(f.Drawing, "svg") }

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
// means and, where there are several runs, their range. X has to increase, and be
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

// Charts returns the panels of a figure of curves over samples; a figure of another kind,
// or one that is missing, has none.
func (f *Figure) Charts() []Chart {
	p, ok := f.Drawing.(*plot.Picture)
	if !ok || f.Series == nil {
		return nil
	}
	var out []Chart
	for i, pn := range p.Panels {
		c := Chart{Title: fmt.Sprintf("(%c) %s", 'a'+i, pn.YLabel), XLabel: "samples processed", LogX: pn.LogX, LogY: pn.LogY}
		for _, t := range pn.Traces {
			c.Lines = append(c.Lines, chartLine(t))
		}
		for _, m := range pn.Marks {
			c.Marks = append(c.Marks, ChartMark{Number(m.X), Number(m.Low), Number(m.High), m.Look.Hex()})
		}
		out = append(out, c)
	}
	return out
}

// chartLine makes the line of a trace.
func chartLine(t plot.Trace) ChartLine {
	l := ChartLine{Label: t.Label, Color: t.Hex(), Width: t.Width.Points(), Flat: t.Flat}
	for _, d := range t.Dash {
		l.Dash = append(l.Dash, d.Points())
	}
	for _, s := range thinned(t.Curve) {
		l.X, l.Mean = append(l.X, Number(s.X)), append(l.Mean, Number(s.Mean))
		l.Low, l.High = append(l.Low, Number(s.Low)), append(l.High, Number(s.High))
	}
	if !plot.Spread(t.Curve) {
		l.Low, l.High = nil, nil
	}
	for _, v := range t.Levels {
		l.Levels = append(l.Levels, Number(v))
	}
	return l
}

// mostPoints is how many evaluations of a curve a chart holds.
const mostPoints = 300

// thinned returns at most mostPoints of a curve's, evenly spaced, the first and the last
// among them.
func thinned(curve []plot.Sample) []plot.Sample {
	n := len(curve)
	if n <= mostPoints {
		return curve
	}
	out := make([]plot.Sample, mostPoints)
	for i := range out {
		out[i] = curve[i*(n-1)/(mostPoints-1)]
	}
	return out
}
