package report

import (
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/experiments"
)

// Sizes of a picture. Its width is the width of a page's text, so nothing is
// scaled in a LaTeX document and the letters keep their size.
const (
	pictureWidth = 6.5 * vg.Inch
	panelHeight  = 1.9 * vg.Inch
	legendRow    = vg.Length(11)
	labelSize    = vg.Length(8)
	tickSize     = vg.Length(7.5)
	legendSize   = vg.Length(7.5)
	tagHeight    = vg.Length(13) // above a panel, for its letter
	wedgeLength  = vg.Length(5)
	ylabelWidth  = vg.Length(16)
)

// look is how a series is drawn: a colour that survives the common colour
// deficiencies, and a lightness and a dash pattern that survive grey.
type look struct {
	color color.NRGBA
	dash  []vg.Length
	width vg.Length
}

// grey is the look of a method that has none of its own.
var grey = []experiments.Line{{Color: 0x333333, Width: 1.2}, {Color: 0x888888, Dash: []float64{4, 2}, Width: 1.2}}

// rgb is an opaque colour.
func rgb(r, g, b uint8) color.NRGBA { return color.NRGBA{R: r, G: g, B: b, A: 0xff} }

// lookOf returns the look of a method's series of the given rank, 0 being the
// one with the largest model order.
func lookOf(method string, rank int) look {
	lines := grey
	if m := experiments.Method(method); m != nil && len(m.Lines) > 0 {
		lines = m.Lines
	}
	line := lines[rank%len(lines)]
	l := look{color: rgb(uint8(line.Color>>16), uint8(line.Color>>8), uint8(line.Color)), width: vg.Length(line.Width)}
	for _, d := range line.Dash {
		l.dash = append(l.dash, vg.Length(d))
	}
	return l
}

// line is the style of the look's line.
func (l look) line() draw.LineStyle {
	return draw.LineStyle{Color: l.color, Width: l.width, Dashes: l.dash}
}

// band is the colour of the look's band.
func (l look) band() color.NRGBA {
	c := l.color
	c.A = 0x38
	return c
}

// reference is the style of a line at a value that the paper prints.
func (l look) reference() draw.LineStyle {
	return draw.LineStyle{Color: l.color, Width: 0.6, Dashes: []vg.Length{0.8, 1.6}}
}

// letters is a text style in the font of all letters in a picture.
func letters(size vg.Length, x text.XAlignment, y text.YAlignment) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	return text.Style{Color: color.Black, Font: f, XAlign: x, YAlign: y, Handler: lettering}
}

// fillMiddle writes a line so that the middle of its letters is at the height of p.
func fillMiddle(c draw.Canvas, sty text.Style, p vg.Point, line string) {
	c.FillText(sty, p.Add(vg.Point{Y: sty.FontExtents().Descent / 2}), line)
}

// rectangle is the outline of a rectangle from its lower left to its upper right
// corner.
func rectangle(left, low, right, high vg.Length) []vg.Point {
	return []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}}
}
