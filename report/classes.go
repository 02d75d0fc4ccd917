package report

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/report/plot"
)

// classColors tell classes apart, the first five well, all thirteen where they
// are large: with every common colour deficiency too, and by their lightness in
// grey. They were found by maximising the least distance between any two, as
// seen each way.
var classColors = []color.NRGBA{
	plot.RGB(0x0b, 0xcc, 0xbc), plot.RGB(0xfc, 0x61, 0x04), plot.RGB(0x28, 0x3a, 0x01), plot.RGB(0x31, 0x6a, 0xe8), plot.RGB(0x82, 0x39, 0x5d),
	plot.RGB(0xb9, 0xea, 0xab), plot.RGB(0x09, 0x04, 0xdb), plot.RGB(0x01, 0x77, 0x2c), plot.RGB(0xdc, 0x80, 0xfe), plot.RGB(0xec, 0xbb, 0x6c),
	plot.RGB(0xfd, 0x14, 0x45), plot.RGB(0xea, 0xc1, 0xfc), plot.RGB(0x40, 0x01, 0x6a),
}

// classColor is the colour of a class.
func classColor(class int) color.NRGBA { return classColors[class%len(classColors)] }

// pale is a colour as the ground on which its own kind is still seen.
func pale(c color.NRGBA) color.NRGBA {
	const share = 5 // of 20
	mix := func(v uint8) uint8 { return uint8((share*int(v) + (20-share)*0xff) / 20) }
	return plot.RGB(mix(c.R), mix(c.G), mix(c.B))
}

// markers are the outlines of the classes' markers, of about equal area, for
// a radius of one; their order is that of the classes.
var markers = [][]vg.Point{
	regular(12, 0, 1),
	regular(4, math.Pi/4, 1.25),
	regular(3, math.Pi/2, 1.4),
	regular(4, 0, 1.3),
	plus(1.35, 0.45),
}

// regular is a regular polygon with a corner at the given angle.
func regular(corners int, angle, radius float64) []vg.Point {
	out := make([]vg.Point, corners)
	for i := range out {
		sin, cos := math.Sincos(angle + 2*math.Pi*float64(i)/float64(corners))
		out[i] = vg.Point{X: vg.Length(radius * cos), Y: vg.Length(radius * sin)}
	}
	return out
}

// plus is a cross of two bars of the given half length and half width.
func plus(l, w vg.Length) []vg.Point {
	return []vg.Point{{X: l, Y: -w}, {X: l, Y: w}, {X: w, Y: w}, {X: w, Y: l}, {X: -w, Y: l}, {X: -w, Y: w},
		{X: -l, Y: w}, {X: -l, Y: -w}, {X: -w, Y: -w}, {X: -w, Y: -l}, {X: w, Y: -l}, {X: w, Y: -w}}
}

// drawMarkers draws the marker of a class at points, all as one shape: a file
// with thousands of them stays small.
func drawMarkers(c draw.Canvas, class int, radius vg.Length, at []vg.Point) {
	var path vg.Path
	for _, p := range at {
		addPolygon(&path, around(p, markers[class%len(markers)], radius))
	}
	c.SetColor(classColor(class))
	c.Fill(path)
}

// dictionaryRadius is the radius of a dictionary element's dot.
const dictionaryRadius = vg.Length(2.3)

// dot is a circle as a polygon: vgpdf's arcs are hexagons at this size.
var dot = regular(32, 0, 1)

// drawElement draws a dictionary element: a black dot, with a rim that sets it
// off against the points around it.
func drawElement(c draw.Canvas, at vg.Point) {
	c.FillPolygon(plot.RGB(0xff, 0xff, 0xff), around(at, dot, dictionaryRadius+0.7))
	c.FillPolygon(plot.RGB(0, 0, 0), around(at, dot, dictionaryRadius))
}

// around is an outline for a radius of one, moved to a point and enlarged.
func around(at vg.Point, outline []vg.Point, radius vg.Length) []vg.Point {
	out := make([]vg.Point, len(outline))
	for i, p := range outline {
		out[i] = at.Add(p.Scale(radius))
	}
	return out
}

// addPolygon adds a polygon to a path.
func addPolygon(path *vg.Path, polygon []vg.Point) {
	path.Move(polygon[0])
	for _, p := range polygon[1:] {
		path.Line(p)
	}
	path.Close()
}

// classLegend are the entries of classes, in their pale colours with their
// markers.
func classLegend(classes int) plot.Legend {
	var l plot.Legend
	for class := range classes {
		l = append(l, plot.IconEntry(fmt.Sprintf("class %d", class), func(c draw.Canvas, at vg.Point) {
			const w, h = 7, 3.5
			c.FillPolygon(pale(classColor(class)), plot.Rectangle(at.X-w, at.Y-h, at.X+w, at.Y+h))
			drawMarkers(c, class, 1.7, []vg.Point{at})
		}))
	}
	return l
}
