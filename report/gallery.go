package report

import (
	"cmp"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"

	xdraw "golang.org/x/image/draw"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/data"
	"polkrepro/evidence"
	"polkrepro/internal/words"
	"polkrepro/paper"
	"polkrepro/report/plot"
	"polkrepro/spec"
)

// A DataPicture shows what the examples of a data set of images look like.
type DataPicture struct {
	Images  []*image.Gray // as shown: ink dark on a light ground
	Columns int           // images in a row
	Caption string        // what the images are, as in: the first 36 training images
	Missing string        // why there are no images; default: data not available
}

// A gallery is the contents of a figure that shows data sets. Its panels are as high as its
// highest mosaic.
type gallery struct {
	plot.Sheet
	captions []string
}

// add adds a panel.
func (g *gallery) add(title string, draw func(draw.Canvas), caption string) {
	g.captions = append(g.captions, fmt.Sprintf("(%c) %s", 'a'+len(g.Tiles), caption))
	g.Tiles = append(g.Tiles, plot.Tile{Title: title, Draw: draw})
}

// dataSets fills the figure of the paper's data sets. The panel of a data set that can't be shown
// states the reason.
func (b *builder) dataSets(f *Figure, pf paper.Figure) {
	g := &gallery{}
	for _, pp := range pf.Panels {
		p := b.in.Pictures[pp.Data]
		switch {
		case pp.Data == "multidist":
			g.addScatter(pp.Title, b.figureDraw)
		case len(p.Images) == 0:
			why := cmp.Or(words.Message(p.Missing), (&evidence.Gap{Kind: evidence.Unavailable}).Cell())
			g.add(pp.Title, plot.Notice(why), pp.Data+": "+why)
		default:
			g.addImages(pp.Title, p)
		}
	}
	f.Drawing, f.Caption = &g.Sheet, strings.Join(g.captions, "; ")+"."
}

// standIns makes the figure of the generated stand-ins that runs are planned
// on, or nil if there are none.
func (b *builder) standIns() *Figure {
	g := &gallery{}
	for _, name := range []string{"glyphs", "weaves"} {
		planned := slices.ContainsFunc(b.in.Planned, func(p spec.Planned) bool { return p.Run.Data.Name == name })
		if p := b.in.Pictures[name]; planned && len(p.Images) > 0 {
			g.addImages(name, p)
		}
	}
	if len(g.Tiles) == 0 {
		return nil
	}
	return &Figure{Name: "figureS1", Title: "Figure S1. Generated stand-ins", Drawing: &g.Sheet,
		Caption: strings.Join(g.captions, "; ") + ". They stand in for images that can't be had everywhere; no figure of the paper is about them."}
}

// addImages adds a panel of images.
func (g *gallery) addImages(title string, p DataPicture) {
	m := p.mosaic()
	g.Aspect = max(g.Aspect, float64(m.Rect.Dy())/float64(m.Rect.Dx()))
	g.add(title, func(c draw.Canvas) { drawMosaic(c, m) }, p.Caption)
}

// addScatter adds the training points of a draw of multidist, with the means of its components.
func (g *gallery) addScatter(title string, figureDraw uint64) {
	set, err := data.Multidist("", figureDraw)
	if err != nil {
		panic("report: " + err.Error()) // can't happen: only an unknown variant is an error
	}
	g.Aspect, g.Axes = max(g.Aspect, 1), true
	g.Legend = append(classLegend(set.Classes), plot.DiamondEntry("mean of a component"))
	g.add(title, func(c draw.Canvas) {
		a := areaOf(set.Train, 1)
		drawPoints(c, a, set.Train, set.Classes, 0.85)
		for _, modes := range data.MultidistMeans(figureDraw) {
			for _, m := range modes {
				plot.DrawDiamond(c, plot.Look{Color: plot.RGB(0, 0, 0)}, a.place(c, m[0], m[1]))
			}
		}
		a.drawAxes(c)
	}, fmt.Sprintf("multidist, the first %d of %d training points of draw %d, with the means of each class's components",
		min(maxPoints, set.Train.N), set.Train.N, figureDraw))
}

// mosaicPixels is the minimum width of a mosaic. Small images are enlarged here, each pixel to a
// square of pixels, because viewers blur the images that they enlarge.
const mosaicPixels = 560

// mosaic arranges the images in rows and columns on white. There must be at least one image.
func (p DataPicture) mosaic() *image.Gray {
	columns := min(p.Columns, len(p.Images))
	rows := (len(p.Images) + columns - 1) / columns
	w, h := 1, 1
	for _, m := range p.Images {
		w, h = max(w, m.Bounds().Dx()), max(h, m.Bounds().Dy())
	}
	gap := 0
	if len(p.Images) > 1 {
		gap = max(1, w/14)
	}
	zoom := max(1, (mosaicPixels+columns*(w+gap)-1)/(columns*(w+gap)))
	out := image.NewGray(image.Rect(0, 0, zoom*(columns*(w+gap)+gap), zoom*(rows*(h+gap)+gap)))
	out.Pix = slices.Repeat([]byte{0xff}, len(out.Pix))
	for i, m := range p.Images {
		at := image.Pt(gap+i%columns*(w+gap), gap+i/columns*(h+gap)).Mul(zoom)
		xdraw.NearestNeighbor.Scale(out, image.Rectangle{Min: at, Max: at.Add(m.Rect.Size().Mul(zoom))}, m, m.Rect, xdraw.Src, nil)
	}
	return out
}

// drawMosaic draws a mosaic as large as fits, under the panel's title.
func drawMosaic(c draw.Canvas, m *image.Gray) {
	size, r := c.Size(), m.Bounds()
	scale := min(size.X/vg.Length(r.Dx()), size.Y/vg.Length(r.Dy()))
	c.Max.X = c.Min.X + scale*vg.Length(r.Dx())
	c.Min.Y = c.Max.Y - scale*vg.Length(r.Dy())
	c.DrawImage(c.Rectangle, m)
	plot.DrawFrame(c)
}

// classColors distinguish classes: the first five well, all thirteen on large areas. They do so
// under every common colour deficiency too, and by their lightness in grey. They were found by
// maximising the minimum distance between any two, over all these ways of seeing.
var classColors = []color.NRGBA{
	plot.RGB(0x0b, 0xcc, 0xbc), plot.RGB(0xfc, 0x61, 0x04), plot.RGB(0x28, 0x3a, 0x01), plot.RGB(0x31, 0x6a, 0xe8), plot.RGB(0x82, 0x39, 0x5d),
	plot.RGB(0xb9, 0xea, 0xab), plot.RGB(0x09, 0x04, 0xdb), plot.RGB(0x01, 0x77, 0x2c), plot.RGB(0xdc, 0x80, 0xfe), plot.RGB(0xec, 0xbb, 0x6c),
	plot.RGB(0xfd, 0x14, 0x45), plot.RGB(0xea, 0xc1, 0xfc), plot.RGB(0x40, 0x01, 0x6a),
}

// classColor is the colour of a class.
func classColor(class int) color.NRGBA { return classColors[class%len(classColors)] }

// pale returns a light tint of a colour, as a background on which marks of the colour itself are
// visible.
func pale(c color.NRGBA) color.NRGBA {
	mix := func(v uint8) uint8 { return uint8((int(v) + 3*0xff) / 4) }
	return plot.RGB(mix(c.R), mix(c.G), mix(c.B))
}

// markers are the outlines of the classes' markers for a radius of one, in the order of the
// classes. Their areas are about equal.
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

// drawMarkers draws the marker of a class at points. All are one shape, so that a file with
// thousands of markers stays small.
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

// dot is a circle as a polygon.
var dot = regular(32, 0, 1)

// drawElement draws a dictionary element: a black dot, with a rim that sets it
// off against the points around it.
func drawElement(c draw.Canvas, at vg.Point) {
	c.FillPolygon(plot.RGB(0xff, 0xff, 0xff), around(at, dot, dictionaryRadius+0.7))
	c.FillPolygon(plot.RGB(0, 0, 0), around(at, dot, dictionaryRadius))
}

// around enlarges an outline for a radius of one to the given radius and moves it to a point.
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

// classLegend returns the legend entries of classes: each class's marker on its pale colour.
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
