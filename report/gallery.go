package report

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/data"
	"polkrepro/evidence"
	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/report/plot"
)

// A DataPicture shows what the examples of a data set of images look like.
type DataPicture struct {
	Images  []*image.Gray // as shown: ink dark on a light ground
	Columns int           // images a row; 0 for as many columns as rows
	Caption string        // what the images are, as in: the first 36 training images
	Missing string        // why there are no images; default: data not available
}

// A gallery is the contents of a figure that shows data sets.
type gallery struct {
	tiles    []plot.Tile
	captions []string
	aspect   float64  // height over width of the highest of the mosaics
	plane    *scatter // the data set in the plane, if there is one
}

// add adds a panel.
func (g *gallery) add(title string, draw func(draw.Canvas), caption string) {
	g.captions = append(g.captions, fmt.Sprintf("(%c) %s", 'a'+len(g.tiles), caption))
	g.tiles = append(g.tiles, plot.Tile{Title: title, Draw: draw})
}

// dataSets fills the figure of the paper's data sets. In the place of one that
// can't be shown it says why.
func (b *builder) dataSets(f *Figure, pf experiments.PaperFigure) {
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
			g.addImages(pp.Title, p, pp.Data)
		}
	}
	f.Drawing, f.Caption = g.sheet(), strings.Join(g.captions, "; ")+"."
	if g.plane != nil {
		f.Data = g.rows
	}
}

// standIns makes the figure of the generated stand-ins that runs are planned
// on, or nil if there are none.
func (b *builder) standIns() *Figure {
	g := &gallery{}
	for _, name := range []string{"glyphs", "weaves"} {
		planned := b.planned(func(p experiments.Planned) bool { return p.Run.Data.Name == name })
		if p := b.in.Pictures[name]; len(planned) > 0 && len(p.Images) > 0 {
			g.addImages(name, p, name)
		}
	}
	if len(g.tiles) == 0 {
		return nil
	}
	return &Figure{Name: "figureS1", Title: "Figure S1. Generated stand-ins", Drawing: g.sheet(),
		Caption: strings.Join(g.captions, "; ") + ". They stand in for images that can't be had everywhere; no figure of the paper is about them."}
}

// addImages adds a panel of images.
func (g *gallery) addImages(title string, p DataPicture, name string) {
	m := p.mosaic()
	g.aspect = max(g.aspect, float64(m.sheet.Rect.Dy())/float64(m.sheet.Rect.Dx()))
	g.add(title, m.draw, words.Message(cmp.Or(p.Caption, name)))
}

func (g *gallery) sheet() *plot.Sheet {
	if g.plane == nil {
		return &plot.Sheet{Tiles: g.tiles, Aspect: cmp.Or(g.aspect, 1)}
	}
	l := append(classLegend(g.plane.set.Classes), plot.IconEntry("mean of a component", drawMean))
	return &plot.Sheet{Tiles: g.tiles, Aspect: 1, Axes: true, Legend: l}
}

// rows are the points shown and the means of the components.
func (g *gallery) rows() [][]string {
	rows := [][]string{{"kind", "x1", "x2", "class"}}
	train := g.plane.set.Train
	for i := range min(train.N, maxPoints) {
		rows = append(rows, []string{"point", exact32(train.Row(i)[0]), exact32(train.Row(i)[1]), strconv.Itoa(int(train.Y[i]))})
	}
	for class, modes := range g.plane.means {
		for _, m := range modes {
			rows = append(rows, []string{"mean", coordinate(m[0]), coordinate(m[1]), strconv.Itoa(class)})
		}
	}
	return rows
}

// exact32 writes a float32 so that it reads back as itself.
func exact32(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }

// A scatter is a data set in the plane.
type scatter struct {
	set   *data.Set
	means [][][2]float64 // by class and mode
}

// addScatter adds the training points of a draw of multidist.
func (g *gallery) addScatter(title string, figureDraw uint64) {
	set, err := data.Multidist("", figureDraw)
	if err != nil {
		g.add(title, plot.Notice(err.Error()), err.Error())
		return
	}
	g.plane = &scatter{set, data.MultidistMeans(figureDraw)}
	g.add(title, g.plane.draw, fmt.Sprintf("multidist, the first %d of %d training points of draw %d, with the means of each class's components",
		min(maxPoints, set.Train.N), set.Train.N, figureDraw))
}

func (p *scatter) draw(c draw.Canvas) {
	a := areaOf(p.set.Train, 1)
	drawPoints(c, a, p.set.Train, p.set.Classes, 0.85)
	for _, modes := range p.means {
		for _, m := range modes {
			drawMean(c, a.place(c, m[0], m[1]))
		}
	}
	a.drawAxes(c)
}

// drawMean draws the mean of a component.
func drawMean(c draw.Canvas, at vg.Point) {
	plot.DrawDiamond(c, plot.Look{Color: plot.RGB(0, 0, 0)}, at)
}

// A mosaic is images set out in rows and columns.
type mosaic struct{ sheet *image.Gray }

// mosaicPixels is the least width of a mosaic: small images are enlarged, each
// pixel to a square of them, because viewers blur what they enlarge.
const mosaicPixels = 560

// mosaic sets the images, of which there is at least one, out on white.
func (p DataPicture) mosaic() mosaic {
	columns := p.Columns
	if columns < 1 {
		columns = int(math.Ceil(math.Sqrt(float64(len(p.Images)))))
	}
	columns = min(columns, len(p.Images))
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
		enlarge(out, m, image.Pt(zoom*(gap+i%columns*(w+gap)), zoom*(gap+i/columns*(h+gap))), zoom)
	}
	return mosaic{out}
}

// enlarge copies an image to a place on another, each pixel as zoom×zoom.
func enlarge(dst, src *image.Gray, at image.Point, zoom int) {
	r := src.Bounds()
	for y := range zoom * r.Dy() {
		for x := range zoom * r.Dx() {
			dst.SetGray(at.X+x, at.Y+y, src.GrayAt(r.Min.X+x/zoom, r.Min.Y+y/zoom))
		}
	}
}

// draw draws the mosaic as large as fits, under the panel's title.
func (m mosaic) draw(c draw.Canvas) {
	size, r := c.Size(), m.sheet.Bounds()
	scale := min(size.X/vg.Length(r.Dx()), size.Y/vg.Length(r.Dy()))
	c.Max.X = c.Min.X + scale*vg.Length(r.Dx())
	c.Min.Y = c.Max.Y - scale*vg.Length(r.Dy())
	c.DrawImage(c.Rectangle, m.sheet)
	plot.DrawFrame(c)
}
