package report

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A legendEntry is a sample of a style and what it stands for.
type legendEntry struct {
	text string
	icon func(c draw.Canvas, left, right vg.Point)
}

// Widths within a legend.
const (
	iconWidth  = vg.Length(22)
	iconGap    = vg.Length(4)
	entryGap   = vg.Length(14)
	legendEdge = vg.Length(4)
)

// lineEntry is the legend entry of a curve.
func lineEntry(text string, l look) legendEntry {
	return legendEntry{text, func(c draw.Canvas, left, right vg.Point) {
		c.StrokeLines(l.line(), []vg.Point{left, right})
	}}
}

// bandEntry is the legend entry of the bands.
func bandEntry(text string) legendEntry {
	return legendEntry{text, func(c draw.Canvas, left, right vg.Point) {
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

// markEntry is the legend entry of the values in the paper's text.
func markEntry(text string) legendEntry {
	return legendEntry{text, func(c draw.Canvas, left, right vg.Point) {
		drawDiamond(c, look{color: rgb(0, 0, 0)}, vg.Point{X: (left.X + right.X) / 2, Y: left.Y})
	}}
}

// width is the width of an entry.
func (e legendEntry) width() vg.Length {
	return iconWidth + iconGap + letters(legendSize, draw.XLeft, draw.YCenter).Width(e.text)
}

// legendRows breaks the legend into rows that fit the picture.
func (p *picture) legendRows() [][]legendEntry {
	var rows [][]legendEntry
	var used vg.Length
	for _, e := range p.legend {
		w := e.width()
		if len(rows) == 0 || used+entryGap+w > pictureWidth-2*legendEdge {
			rows, used = append(rows, nil), -entryGap
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += entryGap + w
	}
	return rows
}

// legendHeight is the height of the legend.
func (p *picture) legendHeight() vg.Length {
	return vg.Length(len(p.legendRows())) * legendRow
}

// drawLegend draws the legend, row by row, each in the middle.
func (p *picture) drawLegend(c draw.Canvas) {
	y := p.legendHeight() + 2 - legendRow/2
	for _, row := range p.legendRows() {
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
	at := vg.Point{X: x + iconWidth + iconGap, Y: y + sty.FontExtents().Descent/2}
	c.FillText(sty, at, e.text)
}
