package plot

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/internal/words"
	"polkrepro/report/table"
)

// A Picture is panels over one legend: a row of them, each with its axes, or small
// multiples.
type Picture struct {
	Panels []*Panel
	Legend Legend
	Height vg.Length // of a panel, without what is around it (default PanelHeight)

	columns int    // of small multiples; 0 for a row
	ylabel  string // of small multiples
}

// Small makes small multiples, filled row by row, with one logarithmic y axis for all. The fewer
// panels in a row, the higher they are.
func Small(ylabel string, panels []*Panel) *Picture {
	const most, height = 4, 1.05 * vg.Inch
	for _, pn := range panels {
		pn.small, pn.LogX, pn.LogY = true, true, true
	}
	columns := max(1, min(most, len(panels)))
	return &Picture{Panels: panels, ylabel: ylabel, columns: columns, Height: min(PanelHeight, height*most/vg.Length(columns))}
}

// Measures around small multiples.
const (
	smallHead  = vg.Length(22) // for a name and the remark below it
	smallTicks = vg.Length(13) // for the labels of the ticks below a panel
	smallGap   = vg.Length(8)
	smallMost  = 5 // maximum number of labels on an axis
)

// Explain adds what the panels have beside their curves to the legend: bands, levels and marks. level
// and mark say what the latter are.
func (p *Picture) Explain(level, mark string) {
	var bands, levels, marks bool
	for _, pn := range p.Panels {
		marks = marks || len(pn.Marks) > 0
		for _, t := range pn.Traces {
			bands, levels = bands || Spread(t.Curve), levels || len(t.Levels) > 0
		}
	}
	if bands {
		p.Legend = append(p.Legend, bandEntry())
	}
	if levels {
		p.Legend = append(p.Legend, LevelEntry(level))
	}
	if marks {
		p.Legend = append(p.Legend, DiamondEntry(mark))
	}
}

// Size is the size in print.
func (p *Picture) Size() (w, h vg.Length) {
	h = cmp.Or(p.Height, PanelHeight) + p.Legend.height() + 4
	if p.columns > 0 {
		rows := vg.Length((len(p.Panels) + p.columns - 1) / p.columns)
		h = rows*(p.Height+smallHead) + 2*smallTicks + legendRow + p.Legend.height() + 4
	}
	return Width, h
}

// Draw draws the panels and the legend.
func (p *Picture) Draw(all draw.Canvas) {
	columns, right, top := len(p.Panels), wedgeLength+2, tagHeight
	tiles := draw.Tiles{PadX: ylabelWidth + wedgeLength + 6}
	if p.columns > 0 {
		columns, right, top = p.columns, smallGap, smallHead
		tiles = draw.Tiles{PadX: smallGap, PadY: smallHead}
	}
	var plots [][]*gonum.Plot
	for i, pn := range p.Panels {
		if i%columns == 0 {
			plots = append(plots, make([]*gonum.Plot, columns))
		}
		plots[i/columns][i%columns] = pn.plot(pn)
		if p.columns > 0 {
			plots[i/columns][i%columns] = p.smallPlot(i)
		}
	}
	tiles.Rows, tiles.Cols = len(plots), columns
	area := draw.Crop(all, ylabelWidth, -right, p.Legend.height()+4, -top)
	for i, row := range gonum.Align(plots, tiles, area) {
		for k, c := range row {
			pl := plots[i][k]
			if pl == nil {
				continue
			}
			pl.Draw(c)
			if p.columns == 0 {
				p.Panels[k].drawLabels(all, c.Min.X, pl.DataCanvas(c).Rectangle)
			}
		}
	}
	if p.columns > 0 {
		sty := Letters(LabelSize, draw.XCenter, draw.YTop)
		sty.Rotation = math.Pi / 2
		all.FillText(sty, vg.Point{X: all.Min.X + 3, Y: area.Center().Y}, p.ylabel)
	}
	p.Legend.draw(all)
}

// drawLabels writes the panel's letter and, left of x, the label of the y
// axis around the given data area. gonum's axis could do the latter but makes
// room for it in the wrong place on a logarithmic axis.
func (p *Panel) drawLabels(c draw.Canvas, x vg.Length, data vg.Rectangle) {
	sty := Letters(LabelSize, draw.XLeft, draw.YBottom)
	c.FillText(sty, vg.Point{X: data.Min.X, Y: data.Max.Y + 4}, p.Title)
	sty.XAlign, sty.Rotation = draw.XCenter, math.Pi/2
	middle := (data.Min.Y + data.Max.Y) / 2
	c.FillText(sty, vg.Point{X: x - sty.FontExtents().Descent - 3, Y: middle}, p.YLabel)
}

// smallPlot makes the plot of panel i. The first panel of a row has the tick labels of the y
// axis. The last panel of a column has the name and the tick labels of the x axis.
func (p *Picture) smallPlot(i int) *gonum.Plot {
	pn := p.Panels[i]
	x, _ := extent(p.Panels...)
	pn.XMin, pn.XMax = 0, x[1]
	if pn.LogX {
		pn.XMin, pn.XMax = logMargin(x)
	}
	pl := pn.plot(p.Panels...)
	for _, a := range []*gonum.Axis{&pl.X, &pl.Y} { // the frame replaces the axis lines
		a.LineStyle.Width, a.Padding, a.Tick.Length = 0, 0, 2.5
	}
	labelsX, labelsY := 0, 0
	if i%p.columns == 0 {
		labelsY = smallMost
	}
	if i+p.columns >= len(p.Panels) {
		labelsX = smallMost
	} else {
		pl.X.Label.Text = ""
	}
	pl.X.Tick.Marker, pl.Y.Tick.Marker = narrow(pl.X.Tick.Marker, labelsX), narrow(pl.Y.Tick.Marker, labelsY)
	return pl
}

// narrow thins out the labels of a small panel's axis evenly. most is the maximum number of ticks
// that keep their label.
func narrow(ticks gonum.Ticker, most int) gonum.Ticker {
	return gonum.TickerFunc(func(low, high float64) []gonum.Tick {
		out := ticks.Ticks(low, high)
		var labelled []*gonum.Tick
		for i := range out {
			if out[i].Label != "" {
				labelled = append(labelled, &out[i])
			}
		}
		every := (len(labelled) + most - 1) / max(1, most)
		for i, t := range labelled {
			if most == 0 || i%every != 0 {
				t.Label = ""
			}
		}
		return out
	})
}

// A Sheet is a row of panels of one size over one legend: the drawing of a
// figure that has no curves.
type Sheet struct {
	Tiles  []Tile
	Aspect float64 // height of a panel over its width
	Axes   bool    // whether the panels have axes
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

// edges returns the width left of the first panel and the height below all panels.
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
	left, foot := s.edges()
	area := draw.Crop(all, left, -tileEdge, foot+s.Legend.height()+4, -tagHeight)
	tiles := draw.Tiles{Rows: 1, Cols: len(s.Tiles), PadX: tileGap}
	for i, t := range s.Tiles {
		c := tiles.At(area, i, 0)
		t.Draw(c)
		all.FillText(Letters(LabelSize, draw.XLeft, draw.YBottom), vg.Point{X: c.Min.X, Y: c.Max.Y + 4},
			fmt.Sprintf("(%c) %s", 'a'+i, t.Title))
	}
	s.Legend.draw(all)
}

// Notice returns a function that draws the reason why a panel is missing, in its place.
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
