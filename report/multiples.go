package report

import (
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// multiples are small panels of equal axes, row by row: each shows one
// heuristic beside the reference.
type multiples struct {
	xlabel, ylabel string
	logX           bool
	columns        int
	height         vg.Length // of a panel
	panels         []small
	legend         legend
}

// A small is one of the panels.
type small struct {
	title, remark string
	lines         []marked
	spots         []spot
	levels        []float64 // x of fine vertical lines
}

// A marked is a line with markers at its points, or without.
type marked struct {
	badge   badge
	width   vg.Length
	markers bool
	points  []place
}

// A spot is a marker that no line goes through.
type spot struct {
	place
	badge badge
}

// A place is one on a panel's axes.
type place struct{ x, y float64 }

// Measures around small panels.
const (
	smallLeft = vg.Length(34)
	smallFoot = vg.Length(26)
	smallHead = vg.Length(13)
	smallGap  = vg.Length(8)
	smallEdge = vg.Length(6)
)

// rowCount is the number of rows.
func (m *multiples) rowCount() int { return (len(m.panels) + m.columns - 1) / m.columns }

// size is the picture's size.
func (m *multiples) size() (w, h vg.Length) {
	return pictureWidth, vg.Length(m.rowCount())*(m.height+smallHead) + smallFoot + m.legend.height() + 4
}

// bounds returns the range of all that is drawn, with a margin, on
// logarithmic axes; x is linear from zero if it is not logarithmic.
func (m *multiples) bounds() (x, y [2]float64) {
	x, y = [2]float64{math.Inf(1), math.Inf(-1)}, [2]float64{math.Inf(1), math.Inf(-1)}
	widen := func(p place) {
		if m.drawable(p) {
			x[0], x[1] = min(x[0], p.x), max(x[1], p.x)
			y[0], y[1] = min(y[0], p.y), max(y[1], p.y)
		}
	}
	for _, p := range m.panels {
		for _, l := range p.lines {
			for _, at := range l.points {
				widen(at)
			}
		}
		for _, d := range p.spots {
			widen(d.place)
		}
	}
	if x[0] > x[1] {
		x, y = [2]float64{1, 10}, [2]float64{1, 10}
	}
	y[0], y[1] = logMargin(y[0], y[1])
	if m.logX {
		x[0], x[1] = logMargin(x[0], x[1])
	} else {
		x[0] = 0
	}
	return x, y
}

// drawable reports whether a point has a place on the axes.
func (m *multiples) drawable(p place) bool {
	return p.y > 1/drawLimit && p.y < drawLimit && p.x < drawLimit && (p.x > 1/drawLimit || !m.logX && p.x >= 0)
}

// draw draws the picture.
func (m *multiples) draw(all draw.Canvas) {
	m.drawBetween(all, 0, pictureWidth)
	m.legend.draw(all)
}

// drawBetween draws the panels between two edges of the picture.
func (m *multiples) drawBetween(all draw.Canvas, from, to vg.Length) {
	x, y := m.bounds()
	columns := vg.Length(m.columns)
	width := (to - from - smallLeft - smallEdge - (columns-1)*smallGap) / columns
	for i := range m.panels {
		row, col := i/m.columns, i%m.columns
		left := from + smallLeft + vg.Length(col)*(width+smallGap)
		top := all.Max.Y - vg.Length(row)*(m.height+smallHead) - smallHead
		c := draw.Canvas{Canvas: all.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: left, Y: top - m.height}, Max: vg.Point{X: left + width, Y: top},
		}}
		f := axes{c, x, y, m.logX}
		last := i+m.columns >= len(m.panels)
		f.frame(col == 0, last)
		if last {
			all.FillText(letters(labelSize, draw.XCenter, draw.YTop), vg.Point{X: left + width/2, Y: top - m.height - 13}, m.xlabel)
		}
		m.drawPanel(f, &m.panels[i])
	}
	sty := letters(labelSize, draw.XCenter, draw.YTop)
	sty.Rotation = math.Pi / 2
	area := vg.Length(m.rowCount()) * (m.height + smallHead)
	all.FillText(sty, vg.Point{X: from + 2, Y: all.Max.Y - area/2}, m.ylabel)
}

// A pair is two panels of different axes, side by side, over one legend.
type pair struct {
	halves [2]multiples
	legend legend
}

// size is the picture's size.
func (p *pair) size() (w, h vg.Length) {
	w, h = p.halves[0].size()
	return w, h + p.legend.height()
}

// draw draws the picture.
func (p *pair) draw(all draw.Canvas) {
	p.halves[0].drawBetween(all, 0, pictureWidth/2)
	p.halves[1].drawBetween(all, pictureWidth/2, pictureWidth)
	p.legend.draw(all)
}

// drawPanel draws what a panel shows, and its title.
func (m *multiples) drawPanel(f axes, p *small) {
	for _, x := range p.levels {
		if x > f.x[0] && x < f.x[1] {
			f.c.StrokeLine2(draw.LineStyle{Color: rgb(0xdd, 0xdd, 0xdd), Width: 0.4}, f.at(place{x, f.y[0]}).X, f.c.Min.Y, f.at(place{x, f.y[0]}).X, f.c.Max.Y)
		}
	}
	for _, l := range p.lines {
		var pts []vg.Point
		for _, d := range l.points {
			if m.drawable(d) {
				pts = append(pts, f.at(d))
			}
		}
		if len(pts) > 1 {
			f.c.StrokeLines(l.badge.line(l.width), pts)
		}
		for _, at := range pts {
			if l.markers || len(pts) == 1 {
				l.badge.draw(f.c, at)
			}
		}
	}
	for _, d := range p.spots {
		if m.drawable(d.place) {
			d.badge.draw(f.c, f.at(d.place))
		}
	}
	f.c.FillText(letters(tickSize, draw.XLeft, draw.YBottom), vg.Point{X: f.c.Min.X, Y: f.c.Max.Y + 3}, plainLetters(p.title))
	sty := letters(tickSize, draw.XRight, draw.YBottom)
	sty.Color = color.NRGBA{0x66, 0x66, 0x66, 0xff}
	f.c.FillText(sty, vg.Point{X: f.c.Max.X, Y: f.c.Max.Y + 3}, plainLetters(p.remark))
}

// axes place points on a canvas whose y axis is logarithmic.
type axes struct {
	c    draw.Canvas
	x, y [2]float64
	logX bool
}

// at returns where a point is drawn.
func (f axes) at(p place) vg.Point {
	var n plot.Normalizer = plot.LinearScale{}
	if f.logX {
		n = logAxis{}
	}
	return vg.Point{X: f.c.X(n.Normalize(f.x[0], f.x[1], p.x)), Y: f.c.Y(logAxis{}.Normalize(f.y[0], f.y[1], p.y))}
}

// frame draws the frame and the ticks, with labels left and below if so asked.
func (f axes) frame(left, below bool) {
	line := draw.LineStyle{Color: rgb(0, 0, 0), Width: 0.4}
	ticks := countTicks(f.x[0], f.x[1])
	if f.logX {
		ticks = logTicks(f.x[0], f.x[1])
	}
	for _, t := range ticks {
		at := f.at(place{t.Value, f.y[0]})
		f.c.StrokeLine2(line, at.X, f.c.Min.Y, at.X, f.c.Min.Y-2)
	}
	if below {
		f.labelBelow(ticks)
	}
	for _, t := range logTicks(f.y[0], f.y[1]) {
		at := f.at(place{f.x[0], t.Value})
		f.c.StrokeLine2(line, f.c.Min.X, at.Y, f.c.Min.X-2, at.Y)
		if left && t.Label != "" {
			sty := letters(tickSize-1, draw.XRight, draw.YCenter)
			f.c.FillText(sty, vg.Point{X: f.c.Min.X - 3, Y: at.Y + sty.FontExtents().Descent/2}, t.Label)
		}
	}
	drawFrame(f.c)
}

// labelBelow writes the labels of the x axis that do not run into each other:
// first those that begin with 1, then with 2 and 5, then the others.
func (f axes) labelBelow(ticks []plot.Tick) {
	const gap = 3
	sty := letters(tickSize-1, draw.XCenter, draw.YTop)
	var taken [][2]vg.Length
	for _, leading := range []string{"01", "25", "346789"} {
		for _, t := range ticks {
			if t.Label == "" || !strings.Contains(leading, firstDigit(t.Label)) {
				continue
			}
			x, half := f.at(place{t.Value, f.y[0]}).X, sty.Width(t.Label)/2
			span := [2]vg.Length{x - half - gap, x + half + gap}
			if slices.ContainsFunc(taken, func(o [2]vg.Length) bool { return span[0] < o[1]-gap && span[1]-gap > o[0] }) {
				continue
			}
			taken = append(taken, span)
			f.c.FillText(sty, vg.Point{X: x, Y: f.c.Min.Y - 3}, t.Label)
		}
	}
}

// firstDigit is the first digit of a label that is not a leading zero, or 0.
func firstDigit(label string) string {
	if s := strings.TrimLeft(label, "0."); s != "" {
		return s[:1]
	}
	return "0"
}
