package report

import (
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strconv"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/evidence"
	"polkrepro/report/plot"
)

// JointFigure makes the figure of how many cells and numbers the combinations of alternatives
// reproduce.
func JointFigure(j *evidence.JointReport) *Figure {
	f := &Figure{
		Name: "joint", Title: "What all combinations of alternatives reproduce", Drawing: jointPicture(j), Data: func() [][]string { return jointRows(j) },
		Caption: "How many of the (a) cells and (b) numbers of Tables 2 and 3 a combination of alternatives reproduces, by the number of its choices that were made with the paper's results in view. " +
			"Grey: combinations, darker for more of them. Line: the most reproduced with at most so many such choices. Diamond: everything as chosen. " +
			j.Sentence(),
	}
	f.Alt = f.Title + ": a line of the most cells and numbers reproduced over the number of choices by result. The table has its values."
	if j.Front[len(j.Front)-1].Cells == 0 {
		f.Missing = whyNotRun
	}
	return f
}

// jointRows groups the combinations by their number of choices by result, of cells reproduced and
// of numbers reproduced, and returns a line for each group. A line counts the combinations and
// names one with the fewest alternatives.
func jointRows(j *evidence.JointReport) [][]string {
	out := [][]string{{"by_result", "cells", "numbers", "combinations", "on_front", "cells_of_one_run", "cells_not_run", "assumed_otherwise"}}
	for _, c := range j.Counts {
		front := slices.ContainsFunc(j.Front, func(r evidence.JointReading) bool {
			return r.ByResult == c.ByResult && r.Cells == c.Cells && r.Numbers == c.Numbers
		})
		out = append(out, line(c.ByResult, c.Cells, c.Numbers, c.Combinations, front, c.OneRun, c.NotRun, c.Names()))
	}
	return out
}

// jointPicture lays the figure out.
func jointPicture(j *evidence.JointReport) *plot.Picture {
	low, high := j.Counts[0].ByResult, j.Counts[len(j.Counts)-1].ByResult // Counts ascend by ByResult
	var panels []*jointPanel
	most := 1.0
	for i, of := range []int{j.Cells, j.Numbers} {
		p := &jointPanel{all: of, low: low, high: high, counts: make(map[[2]int]float64)}
		at := func(r evidence.JointReading) [2]int { return [2]int{r.ByResult, []int{r.Cells, r.Numbers}[i]} }
		for _, c := range j.Counts {
			place := at(c)
			p.counts[place] += float64(c.Combinations)
			switch n := len(p.front); {
			case n == 0 || place[1] > p.front[n-1][1] && place[0] > p.front[n-1][0]:
				p.front = append(p.front, place)
			case place[1] > p.front[n-1][1]:
				p.front[n-1] = place
			}
		}
		p.chosen = at(j.Chosen)
		most = max(most, slices.Max(slices.Collect(maps.Values(p.counts))))
		panels = append(panels, p)
	}
	out := &plot.Picture{Height: 1.5 * plot.PanelHeight, Legend: jointLegend(most)}
	for i, p := range panels {
		p.most = most
		out.Panels = append(out.Panels, &plot.Panel{Title: []string{"(a)", "(b)"}[i], YLabel: fmt.Sprintf([]string{"cells reproduced, of %d", "numbers reproduced, of %d"}[i], p.all), Of: p.axes})
	}
	return out
}

// A jointPanel plots one quantity, cells or numbers reproduced, against the number of choices by
// result.
type jointPanel struct {
	all       int                // total of the quantity
	low, high int                // range of the number of choices by result
	counts    map[[2]int]float64 // number of combinations by (choices by result, quantity)
	most      float64            // largest count of all panels
	front     [][2]int
	chosen    [2]int
}

// axes makes the panel's plot.
func (p *jointPanel) axes() *gonum.Plot {
	pl := plot.New(false, false)
	pl.X.Label.Text = "choices by result"
	pl.X.Min, pl.X.Max = float64(p.low)-0.5, float64(p.high)+0.5
	pl.Y.Min, pl.Y.Max = -0.5, 1.06*float64(p.all)
	var ticks gonum.ConstantTicks
	for v := p.low; v <= p.high; v++ {
		ticks = append(ticks, gonum.Tick{Value: float64(v), Label: strconv.Itoa(v)})
	}
	pl.X.Tick.Marker = ticks
	pl.Add(p)
	return pl
}

// frontLook is the look of the front, in the colour of the verdict reproduced.
var frontLook = plot.Look{Color: plot.RGB(0x0a, 0x93, 0x96), Width: 1.2}

// chosenLook is the look of the combination in which everything is as chosen.
var chosenLook = plot.Look{Color: plot.RGB(0xd0, 0x00, 0x3a)}

// shade returns the grey for a number of combinations; most, the largest number, is the darkest.
func shade(combinations, most float64) color.Color {
	const pale, dark = 0xec, 0x78
	at := math.Log1p(combinations) / math.Log1p(most)
	v := uint8(pale - at*(pale-dark))
	return plot.RGB(v, v, v)
}

// jointLegend explains the front, the chosen combination and some shades.
func jointLegend(most float64) plot.Legend {
	l := plot.Legend{
		plot.Entry{Text: "the most with up to so many choices", Icon: func(c draw.Canvas, left, right vg.Point) {
			c.StrokeLines(frontLook.Line(), []vg.Point{left, right})
			drawFront(c, vg.Point{X: (left.X + right.X) / 2, Y: left.Y})
		}},
		plot.IconEntry("as chosen", func(c draw.Canvas, at vg.Point) { plot.DrawDiamond(c, chosenLook, at) }),
	}
	for i, n := range []float64{1, plot.RoundStep(math.Sqrt(most) / 2.5), plot.RoundStep(most / 2.5)} {
		label := plot.CountLabel(n, n)
		if i == 2 {
			label += " combinations"
		}
		l = append(l, plot.IconEntry(label, func(c draw.Canvas, at vg.Point) {
			c.FillPolygon(shade(n, most), plot.Rectangle(at.X-7, at.Y-3.5, at.X+7, at.Y+3.5))
		}))
	}
	return l
}

// Plot draws the numbers of combinations as shades, the front with its values, and the chosen
// combination.
func (p *jointPanel) Plot(c draw.Canvas, pl *gonum.Plot) {
	at := func(x, y float64) vg.Point { return vg.Point{X: c.X(pl.X.Norm(x)), Y: c.Y(pl.Y.Norm(y))} }
	for x := p.low; x <= p.high; x++ {
		for y := range p.all + 1 {
			if n := p.counts[[2]int{x, y}]; n > 0 {
				low, high := at(float64(x)-0.5, float64(y)-0.5), at(float64(x)+0.5, float64(y)+0.5)
				c.FillPolygon(shade(n, p.most), plot.Rectangle(low.X, low.Y, high.X, high.Y))
			}
		}
	}
	var line []vg.Point
	for i, f := range p.front {
		if i > 0 {
			line = append(line, at(float64(f[0]), float64(p.front[i-1][1])))
		}
		line = append(line, at(float64(f[0]), float64(f[1])))
	}
	line = append(line, at(float64(p.high), float64(p.front[len(p.front)-1][1])))
	c.StrokeLines(frontLook.Line(), line)
	plot.DrawDiamond(c, chosenLook, at(float64(p.chosen[0]), float64(p.chosen[1])))
	for _, f := range p.front {
		place := at(float64(f[0]), float64(f[1]))
		if f != p.chosen {
			drawFront(c, place)
		}
		c.FillText(plot.Letters(plot.TickSize, draw.XCenter, draw.YBottom), place.Add(vg.Point{Y: 3.5}), strconv.Itoa(f[1]))
	}
}

// drawFront draws the marker of a combination on the front.
func drawFront(c draw.Canvas, at vg.Point) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: frontLook.Color, Radius: 2, Shape: draw.CircleGlyph{}}, at)
}
