package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"polkrepro/experiments"
	"polkrepro/report/plot"
	"polkrepro/report/table"
)

// A Figure is one of the paper's figures, or one that supplements them.
type Figure struct {
	Name    string // stem of its files: figure2
	Title   string
	Caption string
	Alt     string // text for readers who can't see the picture (default: Title)
	Missing string // why there is no picture; empty if there is one
	Drawing plot.Drawing
	Data    func() [][]string // numbers behind the figure as lines of a CSV file, a header first (default: the curves)
	Series  []*Series         // set in a figure of curves over samples with a panel for each quantity

	number int // 0 for a figure that is not the paper's
}

// figures makes the paper's figures, the figure of the stand-ins and the curves of the
// supplementary runs. The other figures are made by forest, theory and parts.
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
		return b.notOfPaper(p) || s != "" && s != experiments.OpenQuestions // its dozens of series are in a table instead
	}, func(i int) string { return fmt.Sprintf("S%d", i+2) })
	if f := b.standIns(); f != nil {
		out = append(out, f)
	}
	return append(out, others...)
}

// CSV returns the numbers behind the figure as a CSV file: those of Data, or a line for each point
// of each curve. It returns an empty string if there are none.
func (f *Figure) CSV() string {
	p, curves := f.Drawing.(*plot.Picture)
	switch {
	case f.Missing != "" || f.Data == nil && !curves:
		return ""
	case f.Data != nil:
		return table.CSV(f.Data())
	}
	rows := [][]string{strings.Fields("panel series x mean low high")}
	for _, pn := range p.Panels {
		for _, t := range pn.Traces {
			for _, s := range t.Curve {
				rows = append(rows, line(strings.TrimSpace(pn.Title+" "+pn.YLabel), t.Label, s.X, s.Mean, s.Low, s.High))
			}
		}
	}
	return table.CSV(rows)
}

// SVG returns the figure as SVG. The figure must not be missing.
func (f *Figure) SVG() ([]byte, error) { return plot.Render(f.Drawing, "svg") }

// A Chart holds the data of one panel of a figure of curves, for a page that draws curves
// itself: readers can hide its lines, zoom in and read off values.
type Chart struct {
	Title  string      `json:"title"` // title above the plot, such as (a) test risk
	XLabel string      `json:"xlabel"`
	LogX   bool        `json:"logx,omitempty"`
	LogY   bool        `json:"logy,omitempty"`
	Lines  []ChartLine `json:"lines"`
	Marks  []ChartMark `json:"marks,omitempty"`
}

// A ChartLine is one series in a chart, in the same style as in every picture: means and, for
// several runs, their range. X must increase, and be positive on a logarithmic axis. Mean, Low
// and High have as many elements as X; Low and High may be nil. A number that is not finite is a
// gap.
type ChartLine struct {
	Label  string    `json:"label"` // label, the same in all charts of a figure
	Color  string    `json:"color"` // colour, such as #084594
	Dash   []float64 `json:"dash,omitempty"`
	Width  float64   `json:"width"`          // line width, in points
	Flat   bool      `json:"flat,omitempty"` // whether one value holds for all x, as for a method that sees all data at once
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

// A Number is a float64 of which a chart needs six significant digits. In JSON it is null if it is
// not finite.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, v, 'g', 6, 64), nil
}

// Charts returns the panels of a figure of curves over samples, and nil for any other figure and
// for a missing one.
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

// mostPoints is the maximum number of evaluations in a chart's curve.
const mostPoints = 300

// thinned returns at most mostPoints points of a curve, evenly spaced, including the first and
// the last.
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
