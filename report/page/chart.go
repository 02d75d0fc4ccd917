package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"polkrepro/evidence/stats"
	"polkrepro/report"
)

// A Chart is one plot whose curves readers can hide, zoom into and read off.
type Chart struct {
	Title  string `json:"title"` // above the plot: (a) test risk
	XLabel string `json:"xlabel"`
	LogX   bool   `json:"logx,omitempty"`
	LogY   bool   `json:"logy,omitempty"`
	Lines  []Line `json:"lines"`
	Marks  []Mark `json:"marks,omitempty"`
}

// A Line is a curve: means and, where there are, their intervals. X has to
// increase, and be positive on a logarithmic axis; all slices have its length,
// Low and High may be nil. A number that is not finite is a gap.
type Line struct {
	Label  string    `json:"label"` // the same in all charts of a figure
	Color  string    `json:"color"` // #084594
	Dash   []float64 `json:"dash,omitempty"`
	Width  float64   `json:"width"`          // in points
	Flat   bool      `json:"flat,omitempty"` // one value for all x
	X      Numbers   `json:"x"`
	Mean   Numbers   `json:"mean"`
	Low    Numbers   `json:"low,omitempty"`
	High   Numbers   `json:"high,omitempty"`
	Levels Numbers   `json:"levels,omitempty"` // values that the paper prints, drawn as dotted lines
}

// A Mark is a value, or a range of values, drawn as diamonds.
type Mark struct {
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

// Numbers are the numbers of one curve.
type Numbers []Number

// mostPoints is how many evaluations of a curve a chart holds.
const mostPoints = 300

// figureOf makes a figure of one of the report's.
func figureOf(f *report.Figure) (Figure, error) {
	out := Figure{ID: f.Name, Title: f.Title, Caption: f.Caption, Missing: f.Missing, Alt: f.Title + "."}
	if f.Missing != "" {
		return out, nil
	}
	if f.Name == report.ForestName {
		out.Alt = f.Title + ": a point with its interval for each test. The list of claims has the values."
	}
	var err error
	if out.Picture, err = f.SVG(); err != nil {
		return out, fmt.Errorf("draw %s: %w", f.Name, err)
	}
	for _, c := range f.Charts() {
		out.Charts = append(out.Charts, chartOf(c))
	}
	if len(out.Charts) > 0 {
		out.Alt = curvesAlt(f)
	}
	return out, nil
}

// curvesAlt says what a picture of curves shows.
func curvesAlt(f *report.Figure) string {
	var names []string
	for _, s := range f.Series {
		names = append(names, s.Label)
	}
	return fmt.Sprintf("%s: curves of risk, error rate and model order over the samples processed, for %s. Tables 2 and 3 have the final values.",
		f.Title, strings.Join(names, "; "))
}

// chartOf makes a chart of a panel.
func chartOf(c report.Chart) Chart {
	out := Chart{Title: c.Tag + " " + c.YLabel, XLabel: "samples processed", LogY: c.Log}
	for _, l := range c.Lines {
		out.Lines = append(out.Lines, lineOf(l, c.XMax))
	}
	for _, m := range c.Marks {
		out.Marks = append(out.Marks, Mark{Number(m.X), Number(m.Low), Number(m.High), m.Color})
	}
	return out
}

// lineOf makes a line with the 90 % interval of the mean at every point.
func lineOf(l report.ChartLine, xmax float64) Line {
	out := Line{Label: l.Label, Color: l.Color, Dash: l.Dash, Width: l.Width, Flat: l.Batch}
	points := thinned(l.Points)
	if l.Batch {
		last := l.Points[len(l.Points)-1]
		points = []report.ChartPoint{{Samples: 0, Values: last.Values}, {Samples: int(xmax), Values: last.Values}}
	}
	for _, p := range points {
		e := stats.Estimate{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
		if len(p.Values) > 0 {
			e = stats.Mean(p.Values)
		}
		out.X = append(out.X, Number(p.Samples))
		out.Mean = append(out.Mean, Number(e.Value))
		out.Low = append(out.Low, Number(e.Low))
		out.High = append(out.High, Number(e.High))
	}
	if slices.Equal(out.Low, out.Mean) {
		out.Low, out.High = nil, nil
	}
	for _, v := range l.Printed {
		out.Levels = append(out.Levels, Number(v))
	}
	return out
}

// thinned returns at most mostPoints of the points, evenly spaced, the first
// and the last among them.
func thinned(points []report.ChartPoint) []report.ChartPoint {
	n := len(points)
	if n <= mostPoints {
		return points
	}
	out := make([]report.ChartPoint, mostPoints)
	for i := range out {
		out[i] = points[i*(n-1)/(mostPoints-1)]
	}
	return out
}
