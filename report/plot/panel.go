// Package plot draws figures as SVG and PNG, with equal bytes for equal input. A [Picture]
// has panels in a row or as small multiples, over one legend; a [Panel] has curves with bands,
// bars, levels and marks. A [Sheet] of images and a caller's own [Drawing] use the same letters,
// ticks, legend and formats.
package plot

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/internal/words"
)

// A Panel is one plot of traces, or the plot that Of makes. Its JSON has what a page needs to draw
// the traces and marks itself.
type Panel struct {
	Title          string // (a), or the name in small multiples
	Remark         string `json:"-"` // below the name
	XLabel, YLabel string // XLabel: default samples processed
	LogX, LogY     bool   // a linear axis begins at zero, unless there are negative values
	XMin, XMax     float64
	Traces         []Trace
	Marks          []Mark
	Rules          []float64          `json:"-"` // x of fine vertical lines
	Of             func() *gonum.Plot `json:"-"` // default: a plot of the traces and marks

	small bool // part of small multiples
}

// A Trace is one series in one panel.
type Trace struct {
	Label string // of the series
	Look
	Curve     []Sample
	Levels    []float64 // values the paper prints for it
	Flat      bool      // one value for all x, of a method that sees all data at once
	Deviation bool      // Low and High are a standard deviation from the mean: bars at dots, a band around a line
	Dots      bool      // each point is marked
	Apart     bool      // points are not joined
}

// A Sample is a curve's value at one point of the x axis: the mean over runs and their
// range. A value that is not a number leaves a gap.
type Sample struct{ X, Mean, Low, High float64 }

// MarshalJSON writes x, mean, low and high with six significant digits, and null for a number that
// is not finite.
func (s Sample) MarshalJSON() ([]byte, error) {
	var out []any
	for _, v := range []float64{s.X, s.Mean, s.Low, s.High} {
		if words.Finite(v) {
			out = append(out, json.Number(strconv.FormatFloat(v, 'g', 6, 64)))
		} else {
			out = append(out, nil)
		}
	}
	return json.Marshal(out)
}

// Single returns the sample of one value.
func Single(x, y float64) Sample { return Sample{x, y, y, y} }

// A Mark is a value, or a range of values, that the paper's text states.
type Mark struct {
	X, Low, High float64
	Look         Look
}

// Spread reports whether the runs behind a curve differ anywhere.
func Spread(curve []Sample) bool {
	return slices.ContainsFunc(curve, func(s Sample) bool { return s.High > s.Low })
}

// Span makes the panel's x axis logarithmic and as long as its curves.
func (p *Panel) Span() {
	for _, t := range p.Traces {
		for _, s := range t.Curve {
			if p.XMin == 0 || s.X < p.XMin {
				p.XMin = s.X
			}
			p.XMax = max(p.XMax, s.X)
		}
	}
	p.LogX = p.XMin > 0
}

// drawLimit bounds the absolute values that are drawn, and its inverse bounds the values on a
// logarithmic axis from below, so that margins stay within a float64.
const drawLimit = 1e290

// Drawable reports whether y has a place on the panel's y axis.
func (p *Panel) Drawable(y float64) bool {
	return math.Abs(y) < drawLimit && (!p.LogY || y > 1/drawLimit)
}

// draws says whether a point has a place in the panel.
func (p *Panel) draws(x, y float64) bool {
	within := !p.small || x < drawLimit && (x > 1/drawLimit || !p.LogX && x >= 0)
	return within && p.Drawable(y)
}

// extent returns the x and y ranges of all that is drawn in panels, or 1 to 1 if nothing is.
func extent(panels ...*Panel) (x, y [2]float64) {
	x, y = [2]float64{math.Inf(1), math.Inf(-1)}, [2]float64{math.Inf(1), math.Inf(-1)}
	widen := func(r *[2]float64, v float64) { r[0], r[1] = min(r[0], v), max(r[1], v) }
	for _, p := range panels {
		var values []float64 // values without an x
		for _, t := range p.Traces {
			for _, s := range t.Curve {
				for _, v := range []float64{s.Mean, s.Low, s.High} {
					if p.draws(s.X, v) {
						widen(&x, s.X)
						widen(&y, v)
					}
				}
			}
			values = append(values, t.Levels...)
		}
		for _, m := range p.Marks {
			values = append(values, m.Low, m.High)
		}
		for _, v := range values {
			if p.Drawable(v) {
				widen(&y, v)
			}
		}
	}
	if y[0] > y[1] {
		return [2]float64{1, 1}, [2]float64{1, 1}
	}
	return x, y
}

// logMargin widens a positive range by equal margins on a logarithmic axis, to at least a factor
// of two.
func logMargin(r [2]float64) (float64, float64) {
	l, h := math.Log(r[0]), math.Log(r[1])
	m := max(0.08, 0.04*(h-l), (math.Ln2-(h-l))/2)
	return math.Exp(l - m), math.Exp(h + m)
}

// plot makes the panel's plot, with a y axis that fits all panels in sharing.
func (p *Panel) plot(sharing ...*Panel) *gonum.Plot {
	if p.Of != nil {
		return p.Of()
	}
	pl := New(p.LogX, p.LogY)
	pl.X.Label.Text = cmp.Or(p.XLabel, "samples processed")
	pl.Add(p)
	pl.X.Min, pl.X.Max = p.XMin, p.XMax
	_, y := extent(sharing...)
	if p.LogY {
		pl.Y.Min, pl.Y.Max = logMargin(y)
	} else {
		pl.Y.Min, pl.Y.Max = math.Min(0, y[0]), math.Max(y[1], 0)+0.06*math.Max(y[1]-math.Min(0, y[0]), 1e-9)
	}
	return pl
}

// New makes an empty plot with linear or logarithmic axes, in the letters and line widths of all
// pictures.
func New(logX, logY bool) *gonum.Plot {
	pl := gonum.New()
	pl.TextHandler = lettering
	pl.X.Tick.Label, pl.Y.Tick.Label = Letters(TickSize, draw.XCenter, draw.YTop), Letters(TickSize, draw.XRight, draw.YCenter)
	for a, log := range map[*gonum.Axis]bool{&pl.X: logX, &pl.Y: logY} {
		a.Label.TextStyle = Letters(LabelSize, draw.XCenter, draw.YBottom)
		a.Label.Padding = 2
		a.Tick.Length = 4
		a.Tick.LineStyle.Width = 0.5
		a.LineStyle.Width = 0.5
		a.Padding = 2
		a.Tick.Marker = gonum.TickerFunc(countTicks)
		if log {
			a.Scale, a.Tick.Marker = logAxis{}, gonum.TickerFunc(logTicks)
		}
	}
	return pl
}

var _ gonum.Plotter = (*Panel)(nil)

// Plot draws bands, then the paper's levels, then curves, then marks. Levels and curves that come
// earlier in the legend lie on top. A small panel's traces are drawn one by one.
func (p *Panel) Plot(c draw.Canvas, pl *gonum.Plot) {
	d := contents{p, c, pl}
	if p.small {
		d.ground()
		for _, t := range p.Traces {
			d.spread(t)
			d.curve(t)
		}
		d.name()
		return
	}
	for _, t := range p.Traces {
		d.spread(t)
	}
	for _, t := range slices.Backward(p.Traces) {
		for _, y := range t.Levels {
			d.level(t.Look, y)
		}
	}
	for _, t := range slices.Backward(p.Traces) {
		d.curve(t)
	}
	for _, m := range p.Marks {
		d.mark(m)
	}
}

// contents draw what is in a panel on its canvas.
type contents struct {
	*Panel
	c  draw.Canvas
	pl *gonum.Plot
}

// at returns the place where a point is drawn.
func (d contents) at(x, y float64) vg.Point {
	return vg.Point{X: d.c.X(d.pl.X.Norm(x)), Y: d.c.Y(d.pl.Y.Norm(y))}
}

// pieces cuts a curve at the samples that can't be drawn. ys returns the values of a sample that
// must be drawable.
func (d contents) pieces(curve []Sample, ys func(Sample) []float64) [][]Sample {
	var out [][]Sample
	open := false
	for _, s := range curve {
		ok := !slices.ContainsFunc(ys(s), func(y float64) bool { return !d.draws(s.X, y) })
		switch {
		case ok && open:
			out[len(out)-1] = append(out[len(out)-1], s)
		case ok:
			out = append(out, []Sample{s})
		}
		open = ok
	}
	return out
}

// mean and edges return the values that must be drawable, for a line and for a band.
func mean(s Sample) []float64  { return []float64{s.Mean} }
func edges(s Sample) []float64 { return []float64{s.Low, s.High} }

// spread draws the spread of the runs, clipped to the axis: a band, or bars at dots. A standard
// deviation is drawn around every mean.
func (d contents) spread(t Trace) {
	values := edges
	if t.Deviation {
		values = mean
	}
	for _, piece := range d.pieces(t.Curve, values) {
		var low, high []vg.Point
		for _, s := range piece {
			bottom, top := d.at(s.X, s.Low), d.at(s.X, s.High)
			bottom.Y, top.Y = max(d.c.Min.Y, bottom.Y), min(d.c.Max.Y, top.Y)
			low, high = append(low, bottom), append(high, top)
		}
		switch {
		case t.Deviation && (t.Dots || len(piece) == 1):
			for i := range low {
				d.c.StrokeLines(draw.LineStyle{Color: t.Color, Width: 0.5}, []vg.Point{low[i], high[i]})
			}
		case t.Deviation:
			slices.Reverse(high)
			d.c.FillPolygon(t.band(), append(low, high...))
		case len(piece) > 1 && Spread(piece):
			slices.Reverse(low)
			d.c.FillPolygon(t.band(), append(high, low...))
		}
	}
}

// curve draws the mean; a point between two gaps is a dot.
func (d contents) curve(t Trace) {
	for _, piece := range d.pieces(t.Curve, mean) {
		pts := make([]vg.Point, len(piece))
		for i, s := range piece {
			pts[i] = d.at(s.X, s.Mean)
		}
		if len(pts) > 1 && !t.Apart {
			d.c.StrokeLines(t.Line(), pts)
		}
		if t.Dots || len(pts) == 1 {
			for _, pt := range pts {
				t.Mark(d.c, pt)
			}
		}
	}
}

// level draws a value that the paper prints: a dotted line across the
// panel and a wedge at its right edge, where no curve hides it.
func (d contents) level(l Look, y float64) {
	if !d.Drawable(y) {
		return
	}
	left, right := d.at(0, y), d.at(d.XMax, y)
	d.c.StrokeLines(l.reference(), []vg.Point{left, right})
	d.c.FillPolygon(l.Color, wedge(right))
}

// mark draws a value from the paper's text as a diamond, and a range as a bar between two
// diamonds.
func (d contents) mark(m Mark) {
	if !d.Drawable(m.Low) || !d.Drawable(m.High) || m.X > d.XMax {
		return
	}
	low, high := d.at(m.X, m.Low), d.at(m.X, m.High)
	if m.High > m.Low {
		d.c.StrokeLines(draw.LineStyle{Color: m.Look.Color, Width: 0.8}, []vg.Point{low, high})
		DrawDiamond(d.c, m.Look, low)
	}
	DrawDiamond(d.c, m.Look, high)
}

// ground draws a small panel's frame and rules.
func (d contents) ground() {
	DrawFrame(d.c)
	for _, x := range d.Rules {
		if x > d.pl.X.Min && x < d.pl.X.Max {
			at := d.at(x, d.pl.Y.Min).X
			d.c.StrokeLine2(draw.LineStyle{Color: RGB(0xdd, 0xdd, 0xdd), Width: 0.4}, at, d.c.Min.Y, at, d.c.Max.Y)
		}
	}
}

// name writes a small panel's name and remark above it.
func (d contents) name() {
	sty := Letters(TickSize, draw.XLeft, draw.YBottom)
	remark := vg.Point{X: d.c.Min.X, Y: d.c.Max.Y + 3}
	name := remark
	if d.Remark != "" {
		name.Y += smallHead - 12
	}
	d.c.FillText(sty, name, Plain(d.Title))
	sty.Color = RGB(0x66, 0x66, 0x66)
	d.c.FillText(sty, remark, Plain(d.Remark))
}
