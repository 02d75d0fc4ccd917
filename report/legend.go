package report

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A legendEntry is a sample of a style and what it stands for.
type legendEntry struct {
	text string
	icon func(c draw.Canvas, left, right vg.Point)
}

// A legend is the entries below a drawing.
type legend []legendEntry

// Widths within a legend.
const (
	iconWidth  = vg.Length(22)
	iconGap    = vg.Length(4)
	entryGap   = vg.Length(14)
	legendEdge = vg.Length(4)
)

// lineEntry is the legend entry of a curve.
func lineEntry(text string, l look) legendEntry {
	return strokeEntry(text, l.line())
}

// strokeEntry is the legend entry of a line of some style.
func strokeEntry(text string, line draw.LineStyle) legendEntry {
	return legendEntry{text, func(c draw.Canvas, left, right vg.Point) {
		c.StrokeLines(line, []vg.Point{left, right})
	}}
}

// iconEntry is the legend entry of what is drawn around a point.
func iconEntry(text string, icon func(c draw.Canvas, at vg.Point)) legendEntry {
	return legendEntry{text, func(c draw.Canvas, left, right vg.Point) {
		icon(c, vg.Point{X: (left.X + right.X) / 2, Y: left.Y})
	}}
}

// classLegend are the entries of classes, in their pale colours with their
// markers.
func classLegend(classes int) legend {
	var l legend
	for class := range classes {
		l = append(l, iconEntry(fmt.Sprintf("class %d", class), func(c draw.Canvas, at vg.Point) {
			const w, h = 7, 3.5
			c.FillPolygon(pale(classColor(class)), rectangle(at.X-w, at.Y-h, at.X+w, at.Y+h))
			drawMarkers(c, class, 1.7, []vg.Point{at})
		}))
	}
	return l
}

// bandEntry is the legend entry of the bands.
func bandEntry() legendEntry {
	return legendEntry{"range over runs", func(c draw.Canvas, left, right vg.Point) {
		const half = 3
		c.FillPolygon(rgb(0xcc, 0xcc, 0xcc), []vg.Point{
			{X: left.X, Y: left.Y - half}, {X: left.X, Y: left.Y + half},
			{X: right.X, Y: right.Y + half}, {X: right.X, Y: right.Y - half}})
	}}
}

// levelEntry is the legend entry of the values that the paper prints.
func levelEntry(text string) legendEntry {
	l := look{color: rgb(0x55, 0x55, 0x55)}
	return legendEntry{text, func(c draw.Canvas, left, right vg.Point) {
		tip := right.Add(vg.Point{X: -wedgeLength})
		c.StrokeLines(l.reference(), []vg.Point{left, tip})
		c.FillPolygon(l.color, wedge(tip))
	}}
}

// width is the width of an entry.
func (e legendEntry) width() vg.Length {
	return iconWidth + iconGap + letters(legendSize, draw.XLeft, draw.YCenter).Width(e.text)
}

// rows breaks the legend into rows that fit a picture.
func (l legend) rows() [][]legendEntry {
	var rows [][]legendEntry
	var used vg.Length
	for _, e := range l {
		w := e.width()
		if len(rows) == 0 || used+entryGap+w > pictureWidth-2*legendEdge {
			rows, used = append(rows, nil), -entryGap
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += entryGap + w
	}
	return rows
}

// height is the height of the legend.
func (l legend) height() vg.Length {
	return vg.Length(len(l.rows())) * legendRow
}

// draw draws the legend at the foot of a picture, row by row, each in the
// middle.
func (l legend) draw(c draw.Canvas) {
	y := l.height() + 2 - legendRow/2
	for _, row := range l.rows() {
		total := -entryGap
		for _, e := range row {
			total += entryGap + e.width()
		}
		x := (pictureWidth - total) / 2
		for _, e := range row {
			e.draw(c, x, y)
			x += e.width() + entryGap
		}
		y -= legendRow
	}
}

// draw draws an entry whose left end is at x and whose middle is at y.
func (e legendEntry) draw(c draw.Canvas, x, y vg.Length) {
	e.icon(c, vg.Point{X: x, Y: y}, vg.Point{X: x + iconWidth, Y: y})
	sty := letters(legendSize, draw.XLeft, draw.YCenter)
	fillMiddle(c, sty, vg.Point{X: x + iconWidth + iconGap, Y: y}, e.text)
}
