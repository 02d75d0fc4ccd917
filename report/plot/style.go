package plot

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/report/table"
)

// Sizes of a picture. Its width is the width of a page's text, so nothing is
// scaled in a LaTeX document and the letters keep their size.
const (
	Width       = 6.5 * vg.Inch
	PanelHeight = 1.9 * vg.Inch
	LabelSize   = vg.Length(8)
	TickSize    = vg.Length(7.5)
	legendRow   = vg.Length(11)
	legendSize  = vg.Length(7.5)
	tagHeight   = vg.Length(13) // above a panel, for its letter
	wedgeLength = vg.Length(5)
	ylabelWidth = vg.Length(16)
)

// A Look is how a series is drawn: a colour that survives the common colour
// deficiencies, and a lightness, a dash pattern and a marker that survive grey.
type Look struct {
	Color  color.NRGBA
	Dash   []vg.Length
	Width  vg.Length
	Marker draw.GlyphDrawer `json:"-"` // default: a small dot
}

// RGB returns an opaque colour.
func RGB(r, g, b uint8) color.NRGBA { return color.NRGBA{R: r, G: g, B: b, A: 0xff} }

// Line returns the style of the look's line.
func (l Look) Line() draw.LineStyle {
	return draw.LineStyle{Color: l.Color, Width: l.Width, Dashes: l.Dash}
}

// Of returns the look with another line width.
func (l Look) Of(width vg.Length) Look {
	l.Width = width
	return l
}

// Mark draws the look's marker.
func (l Look) Mark(c draw.Canvas, at vg.Point) {
	sty := draw.GlyphStyle{Color: l.Color, Radius: 2, Shape: l.Marker}
	if l.Marker == nil {
		sty.Radius, sty.Shape = 1.8, draw.CircleGlyph{}
	}
	c.DrawGlyphNoClip(sty, at)
}

// band is the colour of the look's band.
func (l Look) band() color.NRGBA {
	c := l.Color
	c.A = 0x38
	return c
}

// reference is the style of a line at a value that the paper prints.
func (l Look) reference() draw.LineStyle {
	return draw.LineStyle{Color: l.Color, Width: 0.6, Dashes: []vg.Length{0.8, 1.6}}
}

// Letters returns a text style in the font of all letters in a picture.
func Letters(size vg.Length, x text.XAlignment, y text.YAlignment) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	return text.Style{Color: color.Black, Font: f, XAlign: x, YAlign: y, Handler: lettering}
}

// FillMiddle writes a line so that the middle of its letters is at the height of p.
func FillMiddle(c draw.Canvas, sty text.Style, p vg.Point, line string) {
	c.FillText(sty, p.Add(vg.Point{Y: sty.FontExtents().Descent / 2}), line)
}

// Rectangle returns the outline of a rectangle from its lower left to its upper right corner.
func Rectangle(left, low, right, high vg.Length) []vg.Point {
	return []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}}
}

// DrawFrame draws a line around a canvas.
func DrawFrame(c draw.Canvas) {
	p := Rectangle(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
	c.StrokeLines(draw.LineStyle{Color: RGB(0, 0, 0), Width: 0.5}, append(p, p[0], p[1]))
}

// DrawDiamond draws a hollow diamond around p.
func DrawDiamond(c draw.Canvas, l Look, p vg.Point) {
	const r = 2.8
	edge := []vg.Point{{X: p.X - r, Y: p.Y}, {X: p.X, Y: p.Y + r}, {X: p.X + r, Y: p.Y}, {X: p.X, Y: p.Y - r}}
	c.FillPolygon(RGB(0xff, 0xff, 0xff), edge)
	c.StrokeLines(draw.LineStyle{Color: l.Color, Width: 0.9}, append(edge, edge[0], edge[1]))
}

// wedge returns a small triangle to the right of p, with its tip at p.
func wedge(p vg.Point) []vg.Point {
	return []vg.Point{p, p.Add(vg.Point{X: wedgeLength, Y: 2.2}), p.Add(vg.Point{X: wedgeLength, Y: -2.2})}
}

// letterSubstitutes are ASCII spellings of the characters that the pictures'
// encoding lacks.
var letterSubstitutes = strings.NewReplacer("–", "-", "—", "-", "−", "-", "×", "x", "·", "*", "±", "+/-",
	"η", "eta", "λ", "lambda", "ε", "eps", "κ", "kappa", "σ", "sigma", "γ", "gamma", "τ", "tau", "δ", "delta", "ö", "o", "₀", "0", "\u00a0", " ",
	"⁻", "-", "¹", "1", "²", "2", "³", "3", "⁴", "4", "_", " ", "^", " ")

// Plain spells s in ASCII.
func Plain(s string) string { return table.ASCII(letterSubstitutes.Replace(s)) }

// An Entry is a sample of a style, with a text that says what it stands for.
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

// LineEntry returns the legend entry of a curve.
func LineEntry(text string, l Look) Entry {
	return StrokeEntry(text, l.Line())
}

// StrokeEntry returns the legend entry of a line of some style.
func StrokeEntry(text string, line draw.LineStyle) Entry {
	return Entry{Plain(text), func(c draw.Canvas, left, right vg.Point) {
		c.StrokeLines(line, []vg.Point{left, right})
	}}
}

// IconEntry returns the legend entry of a symbol that is drawn around a point.
func IconEntry(text string, icon func(c draw.Canvas, at vg.Point)) Entry {
	return Entry{Plain(text), func(c draw.Canvas, left, right vg.Point) {
		icon(c, vg.Point{X: (left.X + right.X) / 2, Y: left.Y})
	}}
}

// DiamondEntry returns the legend entry of black diamonds.
func DiamondEntry(text string) Entry {
	return IconEntry(text, func(c draw.Canvas, at vg.Point) { DrawDiamond(c, Look{Color: RGB(0, 0, 0)}, at) })
}

// bandEntry returns the legend entry of the bands.
func bandEntry() Entry {
	return Entry{"range over runs", func(c draw.Canvas, left, right vg.Point) {
		c.FillPolygon(RGB(0xcc, 0xcc, 0xcc), Rectangle(left.X, left.Y-3, right.X, right.Y+3))
	}}
}

// LevelEntry returns the legend entry of the values that the paper prints.
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

// draw draws the legend at the foot of a picture, with each row centred.
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
