package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	pictureWidth  = 7.2 * vg.Inch
	pictureHeight = 6.2 * vg.Inch
	pngDPI        = 150

	// axisMargin is the factor by which a logarithmic axis exceeds the data.
	axisMargin = 1.2
)

// looks are the colour, mark and dashes of each series: blue and orange, as in
// the report's figures, and told apart without colour too.
var looks = []struct {
	color color.NRGBA
	mark  vgdraw.GlyphDrawer
	dash  []vg.Length
}{
	{color.NRGBA{R: 0x08, G: 0x45, B: 0x94, A: 0xff}, vgdraw.CircleGlyph{}, nil},
	{color.NRGBA{R: 0xb8, G: 0x43, B: 0x00, A: 0xff}, vgdraw.PyramidGlyph{}, []vg.Length{5, 2}},
}

// draw draws the panels, two a row, in a format (svg or png).
func draw(panels []panel, format string) ([]byte, error) {
	canvas, err := newCanvas(format)
	if err != nil {
		return nil, err
	}
	const cols = 2
	rows := (len(panels) + cols - 1) / cols
	grid := make([][]*plot.Plot, rows)
	for i := range grid {
		grid[i] = make([]*plot.Plot, cols)
	}
	low, high := timeRange(panels)
	for i, p := range panels {
		if grid[i/cols][i%cols], err = p.plot(); err != nil {
			return nil, err
		}
		grid[i/cols][i%cols].Y.Min, grid[i/cols][i%cols].Y.Max = low, high
	}
	tiles := vgdraw.Tiles{Rows: rows, Cols: cols, PadX: vg.Points(14), PadY: vg.Points(14), PadLeft: vg.Points(4), PadRight: vg.Points(6), PadTop: vg.Points(6), PadBottom: vg.Points(2)}
	for i, row := range plot.Align(grid, tiles, vgdraw.New(canvas)) {
		for j, c := range row {
			if grid[i][j] != nil {
				grid[i][j].Draw(c)
			}
		}
	}
	var out bytes.Buffer
	_, err = canvas.WriteTo(&out)
	return out.Bytes(), err
}

func newCanvas(format string) (vg.CanvasWriterTo, error) {
	switch format {
	case "svg":
		return vgsvg.New(pictureWidth, pictureHeight), nil
	case "png":
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(pictureWidth, pictureHeight), vgimg.UseDPI(pngDPI))}, nil
	}
	return nil, fmt.Errorf("unknown format %q", format)
}

// plot makes the panel's plot: points, fitted lines and, dotted, the floor.
func (p *panel) plot() (*plot.Plot, error) {
	pl := plot.New()
	sansSerif(pl)
	for _, v := range variables {
		if v.name == p.name {
			pl.X.Label.Text = v.label
		}
	}
	pl.Y.Label.Text = "time of a step (ms)"
	pl.X.Scale, pl.Y.Scale = plot.LogScale{}, plot.LogScale{}
	pl.X.Tick.Marker, pl.Y.Tick.Marker = plot.TickerFunc(powersOf(2)), plot.TickerFunc(powersOf(10))
	pl.Add(grid())
	pl.Legend.Top, pl.Legend.Left, pl.Legend.Padding = true, true, vg.Points(1.5)
	for i, s := range p.series {
		look := looks[i%len(looks)]
		if err := addSeries(pl, s, step, s.loss, look.color, look.mark, look.dash); err != nil {
			return nil, err
		}
	}
	grey := color.NRGBA{R: 0x66, G: 0x66, B: 0x66, A: 0xff}
	err := addSeries(pl, p.series[0], floor, "kernel alone, "+p.series[0].loss, grey, vgdraw.CrossGlyph{}, []vg.Length{1, 2})
	pl.X.Min /= axisMargin
	pl.X.Max *= axisMargin
	return pl, err
}

// timeRange is the range of all panels' times in milliseconds, in whole powers
// of ten.
func timeRange(panels []panel) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		for _, s := range p.series {
			for _, q := range s.points {
				low, high = min(low, q.step, q.floor), max(high, q.step, q.floor)
			}
		}
	}
	return math.Pow(10, math.Floor(math.Log10(1e3*low))), math.Pow(10, math.Ceil(math.Log10(1e3*high)))
}

// addSeries adds one quantity of a series in milliseconds, its fit as a line.
func addSeries(pl *plot.Plot, s series, y func(point) float64, name string, c color.Color, mark vgdraw.GlyphDrawer, dash []vg.Length) error {
	intercept, slope := s.fit(y)
	marks, fitted := make(plotter.XYs, len(s.points)), make(plotter.XYs, len(s.points))
	for i, p := range s.points {
		marks[i] = plotter.XY{X: p.x, Y: 1e3 * y(p)}
		fitted[i] = plotter.XY{X: p.x, Y: 1e3 * math.Exp(intercept+slope*math.Log(p.x))}
	}
	line, err := plotter.NewLine(fitted)
	if err != nil {
		return err
	}
	line.LineStyle = vgdraw.LineStyle{Color: c, Width: vg.Points(1.1), Dashes: dash}
	scatter, err := plotter.NewScatter(marks)
	if err != nil {
		return err
	}
	scatter.GlyphStyle = vgdraw.GlyphStyle{Color: c, Radius: vg.Points(2.6), Shape: mark}
	pl.Add(line, scatter)
	pl.Legend.Add(name+": slope "+signed(slope), line, scatter)
	return nil
}

// sansSerif sets the letters of the report's figures.
func sansSerif(pl *plot.Plot) {
	face := func(size vg.Length) font.Font {
		return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	}
	pl.X.Label.TextStyle.Font, pl.Y.Label.TextStyle.Font = face(9), face(9)
	pl.X.Tick.Label.Font, pl.Y.Tick.Label.Font = face(8), face(8)
	pl.Legend.TextStyle.Font = face(8)
}

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color = color.Gray{Y: 0xdd}
	g.Horizontal.Color = color.Gray{Y: 0xdd}
	return g
}

// powersOf returns a ticker for a logarithmic axis with a label at every power
// of base.
func powersOf(base float64) plot.TickerFunc {
	return func(min, max float64) []plot.Tick {
		var ticks []plot.Tick
		lo := math.Ceil(math.Log(min)/math.Log(base) - 1e-9)
		hi := math.Floor(math.Log(max)/math.Log(base) + 1e-9)
		for e := lo; e <= hi; e++ {
			v := math.Pow(base, e)
			ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%g", v)})
		}
		return ticks
	}
}
