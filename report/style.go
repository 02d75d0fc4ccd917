package report

import (
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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

// looks holds, for each method, the look of its series from the largest model
// order on. Blue is POLK's and orange BSGD's in every picture.
var looks = map[string][]look{
	"polk": {
		{rgb(0x08, 0x45, 0x94), nil, 1.2},
		{rgb(0x34, 0x90, 0xd6), []vg.Length{6, 2}, 1.2},
		{rgb(0x08, 0x30, 0x6b), []vg.Length{3, 1.2}, 1},
	},
	"bsgd": {
		{rgb(0xb8, 0x43, 0x00), []vg.Length{6, 1.5, 1.5, 1.5}, 1.2},
		{rgb(0xf2, 0xa0, 0x30), []vg.Length{2.5, 1.5}, 1.2},
		{rgb(0x8c, 0x2d, 0x04), []vg.Length{1.5, 1}, 1},
	},
	"csvc": {
		{rgb(0x1a, 0x1a, 0x1a), []vg.Length{9, 2}, 1.1},
	},
	"lbfgs": {
		{rgb(0x6a, 0x1b, 0x8a), []vg.Length{8, 2, 2, 2, 2, 2}, 1.1},
	},
	"ivm": {
		{rgb(0x1b, 0x7a, 0x4b), []vg.Length{4, 1.5, 1, 1.5}, 1.1},
	},
	"nystrom": {
		{rgb(0xa6, 0x1e, 0x5c), []vg.Length{3, 3}, 1.1},
		{rgb(0xe0, 0x7b, 0xa8), []vg.Length{3, 1, 1, 1}, 1.1},
	},
	"rff": {
		{rgb(0x5b, 0x8f, 0x2f), []vg.Length{1.5, 2.5}, 1.3},
		{rgb(0x9c, 0xc2, 0x6b), []vg.Length{1, 1}, 1.3},
	},
	"": {
		{rgb(0x33, 0x33, 0x33), nil, 1.2},
		{rgb(0x88, 0x88, 0x88), []vg.Length{4, 2}, 1.2},
	},
}

// rgb is an opaque colour.
func rgb(r, g, b uint8) color.NRGBA { return color.NRGBA{R: r, G: g, B: b, A: 0xff} }

// lookOf returns the look of a method's series of the given rank, 0 being the
// one with the largest model order.
func lookOf(method string, rank int) look {
	list, ok := looks[method]
	if !ok {
		list = looks[""]
	}
	return list[rank%len(list)]
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

// typeface is the font of all letters in a picture.
func typeface(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// letters is a text style.
func letters(size vg.Length, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{Color: color.Black, Font: typeface(size), XAlign: x, YAlign: y, Handler: lettering}
}
