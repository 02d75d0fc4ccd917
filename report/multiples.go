package report

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// multiples are panels of equal axes, row by row, over one legend. The y axis is
// logarithmic.
type multiples struct {
	ylabel  string
	logX    bool // a linear x axis begins at 0
	ownX    bool // each panel has an x axis of its own
	columns int
	height  vg.Length // of a panel, its title and the labels of its ticks left out
	panels  []facet
	legend  legend
}

// A facet is what one of the panels shows.
type facet struct {
	title, remark string
	xlabel        string
	lines         []facetLine
	points        []facetPoint
	levels        []float64 // x of fine vertical lines
}

// A facetLine is a line with markers at its points, or without, or the markers alone.
type facetLine struct {
	badge   badge
	width   vg.Length
	dash    []vg.Length
	markers bool
	apart   bool // points are not joined
	points  plotter.XYs
	half    []float64 // of the bars at the markers, or of the band about the line; nil if there is none
}

// A facetPoint is a marker that no line goes through.
type facetPoint struct {
	badge badge
	plotter.XY
	half float64 // of its bar
}

// Measures around the panels of multiples.
const (
	facetHead  = vg.Length(22) // for a title and the remark below it
	facetTicks = vg.Length(13) // for the labels of the ticks below a panel
	facetGap   = vg.Length(8)
)

// rowCount is the number of rows.
func (m *multiples) rowCount() int { return (len(m.panels) + m.columns - 1) / m.columns }

func (m *multiples) size() (w, h vg.Length) {
	return pictureWidth, vg.Length(m.rowCount())*(m.height+facetHead) + 2*facetTicks + legendRow + m.legend.height() + 4
}

func (m *multiples) draw(all draw.Canvas) {
	plots := make([][]*plot.Plot, m.rowCount())
	for i := range m.panels {
		row := i / m.columns
		plots[row] = append(plots[row], m.plot(i))
	}
	last := &plots[len(plots)-1]
	*last = append(*last, make([]*plot.Plot, m.columns-len(*last))...)
	area := draw.Crop(all, ylabelWidth, -facetGap, m.legend.height()+4, -facetHead)
	tiles := draw.Tiles{Rows: len(plots), Cols: m.columns, PadX: facetGap, PadY: facetHead}
	for i, row := range plot.Align(plots, tiles, area) {
		for k, c := range row {
			if plots[i][k] != nil {
				plots[i][k].Draw(c)
			}
		}
	}
	sty := letters(labelSize, draw.XCenter, draw.YTop)
	sty.Rotation = math.Pi / 2
	all.FillText(sty, vg.Point{X: all.Min.X + 3, Y: area.Center().Y}, m.ylabel)
	m.legend.draw(all)
}

// plot makes the plot of panel i. The first of a row has the labels of the y
// axis, the last of a column the x axis' name and the labels of its ticks.
func (m *multiples) plot(i int) *plot.Plot {
	pl := newPlot(m.logX, true)
	for _, a := range []*plot.Axis{&pl.X, &pl.Y} { // the frame is the line
		a.LineStyle.Width, a.Padding, a.Tick.Length = 0, 0, 2.5
	}
	labelsX, labelsY := 0, 0
	if i%m.columns == 0 {
		labelsY = maxLabels
	}
	if i+m.columns >= len(m.panels) {
		labelsX = maxLabels
		pl.X.Label.Text = m.panels[i].xlabel
	}
	pl.X.Tick.Marker, pl.Y.Tick.Marker = narrow(pl.X.Tick.Marker, labelsX), narrow(pl.Y.Tick.Marker, labelsY)
	pl.Add(facetDrawer{&m.panels[i], m.drawable})
	sharing := m.panels
	if m.ownX {
		sharing = m.panels[i : i+1]
	}
	low, high := m.span(sharing, func(p plotter.XY) float64 { return p.X })
	pl.X.Min, pl.X.Max = 0, high
	if m.logX {
		pl.X.Min, pl.X.Max = logMargin(low, high)
	}
	pl.Y.Min, pl.Y.Max = logMargin(m.span(m.panels, func(p plotter.XY) float64 { return p.Y }))
	return pl
}

// span is the range of a coordinate of all that is drawn in panels, from 1 to 10
// if nothing is.
func (m *multiples) span(panels []facet, of func(plotter.XY) float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, f := range panels {
		for _, p := range f.all() {
			if m.drawable(p) {
				low, high = min(low, of(p)), max(high, of(p))
			}
		}
	}
	if low > high {
		return 1, 10
	}
	return low, high
}

// all are the points of a panel.
func (f *facet) all() plotter.XYs {
	var out plotter.XYs
	for _, l := range f.lines {
		out = append(out, l.points...)
		for i, half := range l.half {
			p := l.points[i]
			out = append(out, plotter.XY{X: p.X, Y: p.Y - half}, plotter.XY{X: p.X, Y: p.Y + half})
		}
	}
	for _, p := range f.points {
		out = append(out, p.XY)
	}
	return out
}

// drawable reports whether a point has a place on the axes.
func (m *multiples) drawable(p plotter.XY) bool {
	return p.Y > 1/drawLimit && p.Y < drawLimit && p.X < drawLimit && (p.X > 1/drawLimit || !m.logX && p.X >= 0)
}

// A facetDrawer draws what a panel shows, its title and its remark.
type facetDrawer struct {
	*facet
	drawable func(plotter.XY) bool
}

var _ plot.Plotter = facetDrawer{}

func (f facetDrawer) Plot(c draw.Canvas, pl *plot.Plot) {
	drawFrame(c)
	x, y := pl.Transforms(&c)
	for _, level := range f.levels {
		if level > pl.X.Min && level < pl.X.Max {
			c.StrokeLine2(draw.LineStyle{Color: rgb(0xdd, 0xdd, 0xdd), Width: 0.4}, x(level), c.Min.Y, x(level), c.Max.Y)
		}
	}
	for _, l := range f.lines {
		var pts, low, high []vg.Point
		for i, p := range l.points {
			if !f.drawable(p) {
				continue
			}
			pts = append(pts, vg.Point{X: x(p.X), Y: y(p.Y)})
			if l.half != nil {
				low = append(low, vg.Point{X: x(p.X), Y: max(c.Min.Y, y(max(p.Y-l.half[i], pl.Y.Min)))})
				high = append(high, vg.Point{X: x(p.X), Y: min(c.Max.Y, y(p.Y+l.half[i]))})
			}
		}
		f.drawSpread(c, l, low, high)
		if len(pts) > 1 && !l.apart {
			sty := l.badge.line(l.width)
			sty.Dashes = l.dash
			c.StrokeLines(sty, pts)
		}
		for _, at := range pts {
			if l.markers || len(pts) == 1 {
				l.badge.draw(c, at)
			}
		}
	}
	for _, p := range f.points {
		if f.drawable(p.XY) {
			at := vg.Point{X: x(p.X), Y: y(p.Y)}
			low := vg.Point{X: at.X, Y: max(c.Min.Y, y(max(p.Y-p.half, pl.Y.Min)))}
			c.StrokeLines(p.badge.line(0.5), []vg.Point{low, {X: at.X, Y: min(c.Max.Y, y(p.Y+p.half))}})
			p.badge.draw(c, vg.Point{X: x(p.X), Y: y(p.Y)})
		}
	}
	sty := letters(tickSize, draw.XLeft, draw.YBottom)
	at := vg.Point{X: c.Min.X, Y: c.Max.Y + 3}
	title := at
	if f.remark != "" {
		title.Y += facetHead - 12
	}
	c.FillText(sty, title, plainLetters(f.title))
	sty.Color = color.NRGBA{0x66, 0x66, 0x66, 0xff}
	c.FillText(sty, at, plainLetters(f.remark))
}

// drawSpread draws a bar at each marker, or the band about a line without markers.
func (f facetDrawer) drawSpread(c draw.Canvas, l facetLine, low, high []vg.Point) {
	switch {
	case len(low) == 0:
	case l.markers || len(low) == 1:
		for i := range low {
			c.StrokeLines(l.badge.line(0.5), []vg.Point{low[i], high[i]})
		}
	default:
		slices.Reverse(high)
		c.FillPolygon(look{color: l.badge.color}.band(), append(low, high...))
	}
}

// maxLabels is the number of labels that fit the axes of a small panel.
const maxLabels = 5

// narrow are the ticks of an axis of a small panel: at most so many of them keep
// their label, evenly.
func narrow(ticks plot.Ticker, most int) plot.Ticker {
	return plot.TickerFunc(func(low, high float64) []plot.Tick {
		out := ticks.Ticks(low, high)
		labels := 0
		for _, t := range out {
			if t.Label != "" {
				labels++
			}
		}
		every, seen := 1, 0
		if most > 0 {
			every = max(1, (labels+most-1)/most)
		}
		for i := range out {
			if out[i].Label == "" {
				continue
			}
			if most == 0 || seen%every != 0 {
				out[i].Label = ""
			}
			seen++
		}
		return out
	})
}
