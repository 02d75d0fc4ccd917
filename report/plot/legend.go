package plot

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// An Entry is a sample of a style and what it stands for.
type Entry struct {
	Text string
	Icon func(c draw.Canvas, left, right vg.Point)
}

// A Legend is the entries below a drawing.
type Legend []Entry

// Widths within a legend.
const (
	iconWidth  = vg.Length(22)
	iconGap    = vg.Length(4)
	entryGap   = vg.Length(14)
	legendEdge = vg.Length(4)
)

// LineEntry is the legend entry of a curve.
func LineEntry(text string, l Look) Entry {
	return StrokeEntry(text, l.Line())
}

// StrokeEntry is the legend entry of a line of some style.
func StrokeEntry(text string, line draw.LineStyle) Entry {
	return Entry{Plain(text), func(c draw.Canvas, left, right vg.Point) {
		c.StrokeLines(line, []vg.Point{left, right})
	}}
}

// IconEntry is the legend entry of what is drawn around a point.
func IconEntry(text string, icon func(c draw.Canvas, at vg.Point)) Entry {
	return Entry{Plain(text), func(c draw.Canvas, left, right vg.Point) {
		icon(c, vg.Point{X: (left.X + right.X) / 2, Y: left.Y})
	}}
}

// BandEntry is the legend entry of the bands.
func BandEntry() Entry {
	return Entry{"range over runs", func(c draw.Canvas, left, right vg.Point) {
		const half = 3
		c.FillPolygon(RGB(0xcc, 0xcc, 0xcc), []vg.Point{
			{X: left.X, Y: left.Y - half}, {X: left.X, Y: left.Y + half},
			{X: right.X, Y: right.Y + half}, {X: right.X, Y: right.Y - half}})
	}}
}

// LevelEntry is the legend entry of the values that the paper prints.
func LevelEntry(text string) Entry {
	l := Look{Color: RGB(0x55, 0x55, 0x55)}
	return Entry{text, func(c draw.Canvas, left, right vg.Point) {
		tip := right.Add(vg.Point{X: -wedgeLength})
		c.StrokeLines(l.reference(), []vg.Point{left, tip})
		c.FillPolygon(l.Color, wedge(tip))
	}}
}

// width is the width of an entry.
func (e Entry) width() vg.Length {
	return iconWidth + iconGap + Letters(legendSize, draw.XLeft, draw.YCenter).Width(e.Text)
}

// rows breaks the legend into rows that fit a picture.
func (l Legend) rows() [][]Entry {
	var rows [][]Entry
	var used vg.Length
	for _, e := range l {
		w := e.width()
		if len(rows) == 0 || used+entryGap+w > Width-2*legendEdge {
			rows, used = append(rows, nil), -entryGap
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += entryGap + w
	}
	return rows
}

// height is the height of the legend.
func (l Legend) height() vg.Length {
	return vg.Length(len(l.rows())) * legendRow
}

// draw draws the legend at the foot of a picture, row by row, each in the
// middle.
func (l Legend) draw(c draw.Canvas) {
	y := l.height() + 2 - legendRow/2
	for _, row := range l.rows() {
		total := -entryGap
		for _, e := range row {
			total += entryGap + e.width()
		}
		x := (Width - total) / 2
		for _, e := range row {
			e.draw(c, x, y)
			x += e.width() + entryGap
		}
		y -= legendRow
	}
}

// draw draws an entry whose left end is at x and whose middle is at y.
func (e Entry) draw(c draw.Canvas, x, y vg.Length) {
	e.Icon(c, vg.Point{X: x, Y: y}, vg.Point{X: x + iconWidth, Y: y})
	sty := Letters(legendSize, draw.XLeft, draw.YCenter)
	FillMiddle(c, sty, vg.Point{X: x + iconWidth + iconGap, Y: y}, e.Text)
}
