package plot

import (
	"fmt"
	"math"
	"regexp"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// scripts is a text handler for single lines that knows two marks: "_" sets
// the next character, or the next {group}, as a subscript and "^" as a
// superscript. It draws with one font.
type scripts struct{ text.Plain }

var _ text.Handler = scripts{}

// lettering is the handler of every text in a picture.
var lettering = scripts{text.Plain{Fonts: font.NewCache(liberation.Collection())}}

// scriptSize is the size of a script relative to the text it hangs on, and
// scriptDrop and scriptRaise move it relative to the text's size.
const (
	scriptSize  = 0.72
	scriptDrop  = -0.17
	scriptRaise = 0.38
)

// A textRun is a piece of a line at one level: its size, and how far above the
// baseline it stands, relative to the line's size.
type textRun struct {
	text        string
	size, shift vg.Length
}

// mark is a mark with the group or the character that it sets.
var mark = regexp.MustCompile(`[_^](?:\{([^}]*)\}|(.))`)

// runsOf splits a line into its runs.
func runsOf(line string) (runs []textRun) {
	for at := mark.FindStringSubmatchIndex(line); at != nil; at = mark.FindStringSubmatchIndex(line) {
		if at[0] > 0 {
			runs = append(runs, textRun{line[:at[0]], 1, 0})
		}
		shift := vg.Length(scriptDrop)
		if line[at[0]] == '^' {
			shift = scriptRaise
		}
		runs = append(runs, textRun{line[max(at[2], at[4]):max(at[3], at[5])], scriptSize, shift})
		line = line[at[1]:]
	}
	if line != "" {
		runs = append(runs, textRun{line, 1, 0})
	}
	return runs
}

// Box returns the extent of a line.
func (h scripts) Box(txt string, f font.Font) (width, height, depth vg.Length) {
	for _, r := range runsOf(txt) {
		face := h.Fonts.Lookup(f, f.Size*r.size)
		width += face.Width(r.text)
	}
	ext := h.Extents(f)
	return width, ext.Ascent, ext.Descent
}

// Draw draws a line.
func (h scripts) Draw(c vg.Canvas, txt string, sty text.Style, pt vg.Point) {
	if txt == "" {
		return
	}
	c.SetColor(sty.Color)
	if sty.Rotation != 0 {
		c.Push()
		defer c.Pop()
		c.Rotate(sty.Rotation)
	}
	sin, cos := math.Sincos(sty.Rotation)
	x := float64(pt.Y)*sin + float64(pt.X)*cos
	y := float64(pt.Y)*cos - float64(pt.X)*sin
	pt = vg.Point{X: vg.Length(x), Y: vg.Length(y)}
	pt.X += vg.Length(sty.XAlign) * sty.Width(txt)
	pt.Y += vg.Length(sty.YAlign)*sty.Height(txt) + sty.Font.Size - h.Extents(sty.Font).Ascent
	shift := vg.Length(0)
	for i, r := range runsOf(txt) {
		face, letters := h.Fonts.Lookup(sty.Font, sty.Font.Size*r.size), r.text
		if i > 0 && onSVG(c) {
			letters = fmt.Sprintf("%c%.4g%c", continues, float64((shift-r.shift)*sty.Font.Size), continues) + r.text
		}
		c.FillString(face, pt.Add(vg.Point{Y: sty.Font.Size * r.shift}), letters)
		pt.X += face.Width(r.text)
		shift = r.shift
	}
}

// continues surrounds, before a run of a line in SVG, how far below the run before it the run stands.
const continues = '\uE000'

// onSVG reports whether a canvas is written as SVG.
func onSVG(c vg.Canvas) bool {
	d, ok := c.(*draw.Canvas)
	if ok {
		_, ok = d.Canvas.(*vgsvg.Canvas)
	}
	return ok
}

// continued matches a text in SVG that continues the one before it.
var continued = regexp.MustCompile(`</text>\n<text [^>]*style="([^"]*)">\x{E000}([^\x{E000}]*)\x{E000}([^<]*)`)
