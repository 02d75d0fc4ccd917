package report

import (
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/data"
	"polkrepro/report/plot"
)

// An area is a rectangle of the plane of two features. It has axes of its own
// since both must have one scale, which the axes of gonum's plots don't know.
type area struct{ min, max [2]float64 }

// areaOf is the area of a panel, so many times as high as it is wide, that
// shows all points of a split, with a margin and one scale on both axes.
func areaOf(s *data.Split, aspect float64) area {
	const margin = 1.06
	a := area{[2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}}
	for i := range s.N {
		for k, v := range s.Row(i) {
			a.min[k], a.max[k] = math.Min(a.min[k], float64(v)), math.Max(a.max[k], float64(v))
		}
	}
	width := margin * math.Max(a.max[0]-a.min[0], (a.max[1]-a.min[1])/aspect)
	for k, side := range []float64{width, width * aspect} {
		middle := (a.min[k] + a.max[k]) / 2
		a.min[k], a.max[k] = middle-side/2, middle+side/2
	}
	return a
}

// at returns the point of the plane at a place on a grid of n×n nodes.
func (a area) at(p plot.Node, n int) (x, y float64) {
	return a.min[0] + (a.max[0]-a.min[0])*p.X/float64(n-1), a.min[1] + (a.max[1]-a.min[1])*p.Y/float64(n-1)
}

// place returns where a point of the plane is drawn on a canvas that shows the
// area.
func (a area) place(c draw.Canvas, x, y float64) vg.Point {
	return vg.Point{X: c.X((x - a.min[0]) / (a.max[0] - a.min[0])), Y: c.Y((y - a.min[1]) / (a.max[1] - a.min[1]))}
}

// drawAxes draws a frame around a canvas that shows the area, and its axes.
func (a area) drawAxes(c draw.Canvas) {
	plot.DrawFrame(c)
	line := draw.LineStyle{Color: plot.RGB(0, 0, 0), Width: 0.5}
	x, y := plot.Letters(plot.TickSize, draw.XCenter, draw.YTop), plot.Letters(plot.TickSize, draw.XRight, draw.YCenter)
	for _, v := range plot.RoundNumbers(a.min[0], a.max[0], 8) {
		p := a.place(c, v, a.min[1])
		c.StrokeLines(line, []vg.Point{p, p.Add(vg.Point{Y: -3})})
		c.FillText(x, p.Add(vg.Point{Y: -4}), plot.Trimmed(v))
	}
	for _, v := range plot.RoundNumbers(a.min[1], a.max[1], 8) {
		p := a.place(c, a.min[0], v)
		c.StrokeLines(line, []vg.Point{p, p.Add(vg.Point{X: -3})})
		plot.FillMiddle(c, y, p.Add(vg.Point{X: -4}), plot.Trimmed(v))
	}
	x = plot.Letters(plot.LabelSize, draw.XCenter, draw.YTop)
	c.FillText(x, vg.Point{X: c.Center().X, Y: c.Min.Y - 13}, "x_1")
	y = plot.Letters(plot.LabelSize, draw.XCenter, draw.YBottom)
	y.Rotation = math.Pi / 2
	c.FillText(y, vg.Point{X: c.Min.X - 15, Y: c.Center().Y}, "x_2")
}

// maxPoints is how many points of a data set are shown: more would hide each
// other.
const maxPoints = 1500

// drawPoints draws the first points of a split, each with the marker of its
// class.
func drawPoints(c draw.Canvas, a area, s *data.Split, classes int, radius vg.Length) {
	at := make([][]vg.Point, classes)
	for i := range min(s.N, maxPoints) {
		x, y := float64(s.Row(i)[0]), float64(s.Row(i)[1])
		at[int(s.Y[i])] = append(at[int(s.Y[i])], a.place(c, x, y))
	}
	for class, points := range at {
		drawMarkers(c, class, radius, points)
	}
}

// coordinate writes a coordinate for a CSV file.
func coordinate(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// holds says whether a point lies in the area.
func (a area) holds(x, y float64) bool {
	return a.min[0] <= x && x <= a.max[0] && a.min[1] <= y && y <= a.max[1]
}
