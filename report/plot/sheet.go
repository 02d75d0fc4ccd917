package plot

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/internal/words"
	"polkrepro/report/table"
)

// A Sheet is a row of panels of one size over one legend: the drawing of a
// figure that has no curves.
type Sheet struct {
	Tiles  []Tile
	Aspect float64 // height of a panel over its width
	Axes   bool    // whether a panel has some
	Legend Legend
}

// A Tile is one panel of a sheet, under its title. Draw draws on the panel's canvas; axes
// go beyond it.
type Tile struct {
	Title string
	Draw  func(c draw.Canvas)
}

// Widths and heights around the panels of a sheet.
const (
	tileLeft = vg.Length(25) // for an axis
	tileFoot = vg.Length(24)
	tileGap  = vg.Length(30)
	tileEdge = vg.Length(3)
)

// edges are the width left of the first panel and the height below all.
func (s *Sheet) edges() (left, foot vg.Length) {
	if s.Axes {
		return tileLeft, tileFoot
	}
	return tileEdge, tileEdge
}

// side is the width of a panel.
func (s *Sheet) side() vg.Length {
	n := vg.Length(len(s.Tiles))
	left, _ := s.edges()
	return (Width - left - tileEdge - (n-1)*tileGap) / n
}

func (s *Sheet) Size() (w, h vg.Length) {
	_, foot := s.edges()
	return Width, tagHeight + s.side()*vg.Length(s.Aspect) + foot + s.Legend.height() + 4
}

func (s *Sheet) Draw(all draw.Canvas) {
	side := s.side()
	edge, _ := s.edges()
	for i, t := range s.Tiles {
		left := edge + vg.Length(i)*(side+tileGap)
		top := all.Max.Y - tagHeight
		c := draw.Canvas{Canvas: all.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: left, Y: top - side*vg.Length(s.Aspect)},
			Max: vg.Point{X: left + side, Y: top},
		}}
		t.Draw(c)
		all.FillText(Letters(LabelSize, draw.XLeft, draw.YBottom), vg.Point{X: left, Y: top + 4},
			fmt.Sprintf("(%c) %s", 'a'+i, t.Title))
	}
	s.Legend.draw(all)
}

// Notice stands in the place of what is missing and says why.
func Notice(why string) func(draw.Canvas) {
	return func(c draw.Canvas) {
		DrawNotice(c, why)
		DrawFrame(c)
	}
}

// noticeWidth is the number of characters in a line of a notice.
const noticeWidth = 28

// DrawNotice writes why something is missing in the middle of a canvas.
func DrawNotice(c draw.Canvas, why string) {
	c.SetColor(RGB(0xf2, 0xf2, 0xf2))
	c.Fill(c.Rectangle.Path())
	sty := Letters(LabelSize, draw.XCenter, draw.YCenter)
	lines := strings.Split(table.Wrap(Plain(words.Shorten(why, 6*noticeWidth)), noticeWidth, ""), "\n")
	at := c.Center().Add(vg.Point{Y: vg.Length(len(lines)-1) / 2 * legendRow})
	for _, l := range lines {
		c.FillText(sty, at, l)
		at.Y -= legendRow
	}
}
