package report

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A picture is a row of panels over one legend: the drawing of a figure of
// curves.
type picture struct {
	panels []panel
	legend legend
	height vg.Length // of the panels (default panelHeight)
}

// A panel is one plot, against the number of samples processed unless xlabel
// says otherwise.
type panel struct {
	tag    string // (a)
	xlabel string
	ylabel string
	log    bool    // logarithmic y axis; a linear one starts at zero
	xmin   float64 // above 0: where a logarithmic x axis begins; a linear one begins at 0
	xmax   float64
	traces []trace
	marks  []mark
	of     func() *plot.Plot // makes the plot; by default one of traces and marks
}

// A trace is one series in one panel.
type trace struct {
	look   look
	curve  []sample
	levels []float64 // values the paper prints for it
	dots   bool      // each point of the curve is a dot, too
}

// A sample is a curve's value at one point of the x axis: the mean over runs
// and their range. A value that is not a number leaves a gap.
type sample struct {
	x, mean, low, high float64
}

// single is the sample of one value.
func single(x, y float64) sample { return sample{x, y, y, y} }

// A mark is a value, or a range of values, that the paper's text states.
type mark struct {
	x, low, high float64
	look         look
}

// drawLimit bounds what is drawn, and its inverse what is drawn on a
// logarithmic axis, so that margins stay within a float64.
const drawLimit = 1e290

// drawable says whether y has a place on the panel's y axis.
func (p *panel) drawable(y float64) bool {
	return math.Abs(y) < drawLimit && (!p.log || y > 1/drawLimit)
}

// rangeY is the range of the y axis: all that is drawn and a margin.
func (p *panel) rangeY() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	widen := func(ys ...float64) {
		for _, y := range ys {
			if p.drawable(y) {
				low, high = math.Min(low, y), math.Max(high, y)
			}
		}
	}
	for _, t := range p.traces {
		for _, s := range t.curve {
			widen(s.mean, s.low, s.high)
		}
		widen(t.levels...)
	}
	for _, m := range p.marks {
		widen(m.low, m.high)
	}
	if low > high {
		low, high = 1, 1
	}
	if p.log {
		return logMargin(low, high)
	}
	return math.Min(0, low), math.Max(high, 0) + 0.06*math.Max(high-math.Min(0, low), 1e-9)
}

// logMargin widens a positive range by a margin that is even on a logarithmic
// axis, to at least a factor of two.
func logMargin(low, high float64) (float64, float64) {
	l, h := math.Log(low), math.Log(high)
	m := max(0.08, 0.04*(h-l), (math.Ln2-(h-l))/2)
	return math.Exp(l - m), math.Exp(h + m)
}

// span makes the panel's logarithmic x axis as long as its curves.
func (p *panel) span() {
	for _, t := range p.traces {
		for _, s := range t.curve {
			if p.xmin == 0 || s.x < p.xmin {
				p.xmin = s.x
			}
			p.xmax = max(p.xmax, s.x)
		}
	}
}

// plot makes the panel's plot.
func (p *panel) plot() *plot.Plot {
	if p.of != nil {
		return p.of()
	}
	pl := newPlot(p.xmin > 0, p.log)
	pl.X.Label.Text = cmp.Or(p.xlabel, "samples processed")
	pl.Add(panelDrawer{p})
	pl.X.Min, pl.X.Max = p.xmin, p.xmax
	pl.Y.Min, pl.Y.Max = p.rangeY()
	return pl
}

// newPlot makes an empty plot with linear or logarithmic axes, in the letters and
// lines of all pictures.
func newPlot(logX, logY bool) *plot.Plot {
	pl := plot.New()
	pl.TextHandler = lettering
	pl.X.Tick.Label, pl.Y.Tick.Label = letters(tickSize, draw.XCenter, draw.YTop), letters(tickSize, draw.XRight, draw.YCenter)
	for a, log := range map[*plot.Axis]bool{&pl.X: logX, &pl.Y: logY} {
		a.Label.TextStyle = letters(labelSize, draw.XCenter, draw.YBottom)
		a.Label.Padding = 2
		a.Tick.Length = 4
		a.Tick.LineStyle.Width = 0.5
		a.LineStyle.Width = 0.5
		a.Padding = 2
		a.Tick.Marker = plot.TickerFunc(countTicks)
		if log {
			a.Scale, a.Tick.Marker = logAxis{}, plot.TickerFunc(logTicks)
		}
	}
	return pl
}

func (p *picture) size() (w, h vg.Length) {
	return pictureWidth, cmp.Or(p.height, panelHeight) + p.legend.height() + 4
}

func (p *picture) draw(all draw.Canvas) {
	plots := make([]*plot.Plot, len(p.panels))
	for i := range p.panels {
		plots[i] = p.panels[i].plot()
	}
	area := draw.Crop(all, ylabelWidth, -wedgeLength-2, p.legend.height()+4, -tagHeight)
	tiles := draw.Tiles{Rows: 1, Cols: len(plots), PadX: ylabelWidth + wedgeLength + 6}
	for i, c := range plot.Align([][]*plot.Plot{plots}, tiles, area)[0] {
		plots[i].Draw(c)
		p.panels[i].drawLabels(all, c.Min.X, plots[i].DataCanvas(c).Rectangle)
	}
	p.legend.draw(all)
}

// drawLabels writes the panel's letter and, left of x, the label of the y
// axis around the given data area. plot.Axis could do the latter but makes
// room for it in the wrong place on a logarithmic axis.
func (p *panel) drawLabels(c draw.Canvas, x vg.Length, data vg.Rectangle) {
	sty := letters(labelSize, draw.XLeft, draw.YBottom)
	c.FillText(sty, vg.Point{X: data.Min.X, Y: data.Max.Y + 4}, p.tag)
	sty.XAlign, sty.Rotation = draw.XCenter, math.Pi/2
	middle := (data.Min.Y + data.Max.Y) / 2
	c.FillText(sty, vg.Point{X: x - sty.FontExtents().Descent - 3, Y: middle}, p.ylabel)
}

// A panelDrawer draws a panel's contents: bands, then the paper's levels, then
// curves, then marks; what comes first in the legend lies on top.
type panelDrawer struct{ *panel }

var _ plot.Plotter = panelDrawer{}

func (d panelDrawer) Plot(c draw.Canvas, pl *plot.Plot) {
	at := func(x, y float64) vg.Point {
		return vg.Point{X: c.X(pl.X.Norm(x)), Y: c.Y(pl.Y.Norm(y))}
	}
	for _, t := range d.traces {
		d.drawBand(c, t, at)
	}
	for _, t := range slices.Backward(d.traces) {
		for _, y := range t.levels {
			d.drawLevel(c, t.look, y, at)
		}
	}
	for _, t := range slices.Backward(d.traces) {
		d.drawCurve(c, t, at)
	}
	for _, m := range d.marks {
		d.drawMark(c, m, at)
	}
}

// pieces cuts a curve where it can not be drawn.
func (d panelDrawer) pieces(curve []sample, ys func(sample) []float64) [][]sample {
	var out [][]sample
	open := false
	for _, s := range curve {
		ok := !slices.ContainsFunc(ys(s), func(y float64) bool { return !d.drawable(y) })
		switch {
		case ok && open:
			out[len(out)-1] = append(out[len(out)-1], s)
		case ok:
			out = append(out, []sample{s})
		}
		open = ok
	}
	return out
}

// drawBand fills the range of the runs.
func (d panelDrawer) drawBand(c draw.Canvas, t trace, at func(x, y float64) vg.Point) {
	for _, piece := range d.pieces(t.curve, func(s sample) []float64 { return []float64{s.low, s.high} }) {
		if len(piece) < 2 || !spread(piece) {
			continue
		}
		var edge []vg.Point
		for _, s := range piece {
			edge = append(edge, at(s.x, s.high))
		}
		for i := len(piece) - 1; i >= 0; i-- {
			edge = append(edge, at(piece[i].x, piece[i].low))
		}
		c.FillPolygon(t.look.band(), edge)
	}
}

// spread says whether the runs behind a curve differ anywhere.
func spread(curve []sample) bool {
	return slices.ContainsFunc(curve, func(s sample) bool { return s.high > s.low })
}

// drawCurve draws the mean; a point between two gaps is a dot.
func (d panelDrawer) drawCurve(c draw.Canvas, t trace, at func(x, y float64) vg.Point) {
	for _, piece := range d.pieces(t.curve, func(s sample) []float64 { return []float64{s.mean} }) {
		pts := make([]vg.Point, len(piece))
		for i, s := range piece {
			pts[i] = at(s.x, s.mean)
		}
		if len(pts) > 1 {
			c.StrokeLines(t.look.line(), pts)
		}
		if t.dots || len(pts) == 1 {
			for _, pt := range pts {
				c.DrawGlyphNoClip(draw.GlyphStyle{Color: t.look.color, Radius: 1.8, Shape: draw.CircleGlyph{}}, pt)
			}
		}
	}
}

// drawLevel draws a value that the paper prints: a dotted line across the
// panel and a wedge at its right edge, where no curve hides it.
func (d panelDrawer) drawLevel(c draw.Canvas, l look, y float64, at func(x, y float64) vg.Point) {
	if !d.drawable(y) {
		return
	}
	left, right := at(0, y), at(d.xmax, y)
	c.StrokeLines(l.reference(), []vg.Point{left, right})
	c.FillPolygon(l.color, wedge(right))
}

// wedge is a small triangle whose tip is at p and that lies to the right of it.
func wedge(p vg.Point) []vg.Point {
	return []vg.Point{p, p.Add(vg.Point{X: wedgeLength, Y: 2.2}), p.Add(vg.Point{X: wedgeLength, Y: -2.2})}
}

// drawMark draws a value from the paper's text as a diamond, a range as a bar
// between two.
func (d panelDrawer) drawMark(c draw.Canvas, m mark, at func(x, y float64) vg.Point) {
	if !d.drawable(m.low) || !d.drawable(m.high) || m.x > d.xmax {
		return
	}
	low, high := at(m.x, m.low), at(m.x, m.high)
	if m.high > m.low {
		c.StrokeLines(draw.LineStyle{Color: m.look.color, Width: 0.8}, []vg.Point{low, high})
		drawDiamond(c, m.look, low)
	}
	drawDiamond(c, m.look, high)
}

// drawDiamond draws a hollow diamond around p.
func drawDiamond(c draw.Canvas, l look, p vg.Point) {
	const r = 2.8
	edge := []vg.Point{{X: p.X - r, Y: p.Y}, {X: p.X, Y: p.Y + r}, {X: p.X + r, Y: p.Y}, {X: p.X, Y: p.Y - r}}
	c.FillPolygon(rgb(0xff, 0xff, 0xff), edge)
	c.StrokeLines(draw.LineStyle{Color: l.color, Width: 0.9}, append(edge, edge[0], edge[1]))
}
