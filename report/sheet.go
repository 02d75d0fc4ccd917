package report

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/internal/words"
	"polkrepro/report/table"
)

// A sheet is a row of panels of one size over one legend: the drawing of a
// figure that has no curves.
type sheet struct {
	tiles  []tile
	aspect float64 // height of a panel over its width
	axes   bool    // whether a panel has some
	legend legend
}

// A tile is one panel of a sheet, under its title.
type tile struct {
	title string
	shown panelContents
}

// A panelContents is what a tile shows.
type panelContents interface {
	// draw draws on the panel's canvas; axes go beyond it.
	draw(c draw.Canvas)
}

// Widths and heights around the panels of a sheet.
const (
	tileLeft = vg.Length(25) // for an axis
	tileFoot = vg.Length(24)
	tileGap  = vg.Length(30)
	tileEdge = vg.Length(3)
)

// edges are the width left of the first panel and the height below all.
func (s *sheet) edges() (left, foot vg.Length) {
	if s.axes {
		return tileLeft, tileFoot
	}
	return tileEdge, tileEdge
}

// side is the width of a panel.
func (s *sheet) side() vg.Length {
	n := vg.Length(len(s.tiles))
	left, _ := s.edges()
	return (pictureWidth - left - tileEdge - (n-1)*tileGap) / n
}

func (s *sheet) size() (w, h vg.Length) {
	_, foot := s.edges()
	return pictureWidth, tagHeight + s.side()*vg.Length(s.aspect) + foot + s.legend.height() + 4
}

func (s *sheet) draw(all draw.Canvas) {
	side := s.side()
	edge, _ := s.edges()
	for i, t := range s.tiles {
		left := edge + vg.Length(i)*(side+tileGap)
		top := all.Max.Y - tagHeight
		c := draw.Canvas{Canvas: all.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: left, Y: top - side*vg.Length(s.aspect)},
			Max: vg.Point{X: left + side, Y: top},
		}}
		t.shown.draw(c)
		all.FillText(letters(labelSize, draw.XLeft, draw.YBottom), vg.Point{X: left, Y: top + 4},
			fmt.Sprintf("(%c) %s", 'a'+i, t.title))
	}
	s.legend.draw(all)
}

// A notice stands in the place of what is missing and says why.
type notice string

func (why notice) draw(c draw.Canvas) {
	drawNotice(c, string(why))
	drawFrame(c)
}

// noticeWidth is the number of characters in a line of a notice.
const noticeWidth = 28

// drawNotice writes why something is missing in the middle of a canvas.
func drawNotice(c draw.Canvas, why string) {
	c.SetColor(rgb(0xf2, 0xf2, 0xf2))
	c.Fill(c.Rectangle.Path())
	sty := letters(labelSize, draw.XCenter, draw.YCenter)
	lines := strings.Split(table.Wrap(plainLetters(words.Shorten(why, 6*noticeWidth)), noticeWidth, ""), "\n")
	at := c.Center().Add(vg.Point{Y: vg.Length(len(lines)-1) / 2 * legendRow})
	for _, l := range lines {
		c.FillText(sty, at, l)
		at.Y -= legendRow
	}
}
