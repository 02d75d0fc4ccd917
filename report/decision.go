package report

import (
	"errors"
	"fmt"
	"image"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/paper"
	"polkrepro/record"
	"polkrepro/report/plot"
	"polkrepro/spec"
)

// decisions fills a figure of decision surfaces, with a panel for each task. A panel shows the
// model of the run with the lowest seed on the figures' draw, among the runs that feed it. The
// panel of a task without a model states the reason.
func (b *builder) decisions(f *Figure, pf paper.Figure) {
	sheet := &plot.Sheet{Axes: true, Aspect: surfaceAspect}
	var models, whys, lost []string
	confident := false
	for _, pp := range pf.Panels {
		s, p, why := b.surface(pf.ID, pp)
		if s == nil {
			sheet.Tiles = append(sheet.Tiles, plot.Tile{Title: pp.Title, Draw: plot.Notice(why)})
			whys, lost = append(whys, why), append(lost, fmt.Sprintf("(%s) %s", pp.ID, why))
			continue
		}
		title := fmt.Sprintf("%s: M = %d, test error %.1f %%", pp.Title, s.model.Order(), 100*b.in.Records[p.ID].Final.TestError)
		sheet.Tiles = append(sheet.Tiles, plot.Tile{Title: title, Draw: s.draw})
		models = append(models, fmt.Sprintf("(%s) %s, %s, seed %d, draw %d", pp.ID, p.Run.Task, p.Series, p.Run.Seed, p.Run.Data.Draw))
		if sheet.Legend == nil {
			sheet.Legend = append(classLegend(s.set.Classes), plot.IconEntry("dictionary element", drawElement), plot.StrokeEntry("class boundary", boundaryLine))
		}
		confident = confident || s.logits
	}
	if len(models) == 0 {
		f.Missing = strings.Join(slices.Compact(whys), ", ")
		return
	}
	f.Drawing = sheet
	f.Caption = fmt.Sprintf("Decisions of one model a panel: pale grounds are the classes decided for, small markers the first %d training points, "+
		"black dots the M dictionary elements, solid lines the boundaries between classes", maxPoints)
	if confident {
		f.Caption += ", dashed lines the contours of the confidence, the softmax probability of the class decided for"
		for i, level := range confidenceLevels {
			sheet.Legend = append(sheet.Legend, plot.StrokeEntry(fmt.Sprintf("confidence %g", level), confidenceLines[i]))
		}
	}
	f.Caption += fmt.Sprintf(". Models: %s. The test error is a mean over the last 5 %% of the samples.", strings.Join(models, "; "))
	if lost != nil {
		f.Caption += " Missing: " + strings.Join(lost, "; ") + "."
	}
}

// surface makes the surface of a panel and returns it with its run, or says why there is none.
func (b *builder) surface(figure string, pp paper.Panel) (s *surface, of spec.Planned, why string) {
	planned := b.planned(func(p spec.Planned) bool {
		run := p.Run
		return slices.Contains(p.Figures, figure) && run.Data.Name == pp.Data && run.Task == pp.Task && run.Data.Draw == b.figureDraw
	})
	runs := b.records(planned)
	if len(runs) == 0 {
		return nil, of, b.absent(planned, pp.Data)
	}
	s, err := newSurface(runs[0])
	if err != nil {
		return nil, of, fmt.Sprintf("run %s: %v", runs[0].Header.ID, err)
	}
	return s, planned[slices.IndexFunc(planned, func(p spec.Planned) bool { return p.ID == runs[0].Header.ID })], ""
}

// surfaceAspect is the height of a panel over its width.
const surfaceAspect = 1.12

// gridNodes is the number of nodes on each side of the grid on which a surface is drawn.
const gridNodes = 241

// The lines that are drawn: boundaries between classes, and contours of confidenceLevels,
// which are probabilities.
var (
	boundaryLine     = draw.LineStyle{Color: plot.RGB(0, 0, 0), Width: 0.9}
	confidenceLevels = []float64{0.75, 0.95}
	confidenceLines  = []draw.LineStyle{
		{Color: plot.RGB(0x22, 0x22, 0x22), Width: 0.7, Dashes: []vg.Length{4, 2}},
		{Color: plot.RGB(0x22, 0x22, 0x22), Width: 0.7, Dashes: []vg.Length{1.2, 1.4}},
	}
)

// A surface is the decisions of one model on the plane, with the data that it was trained on.
type surface struct {
	model  *kernel.Expansion
	set    *data.Set
	area   area
	scores []float64 // at the grid's nodes; those of node (i, j) begin at (j·gridNodes+i)·Outputs
	logits bool      // whether the scores are logits of the classes, which have a confidence
}

// maxScore bounds the scores that are drawn, so that their differences stay within a float64.
const maxScore = 1e100

// newSurface evaluates the model of a record on the grid.
func newSurface(r *record.Record) (*surface, error) {
	run := r.Header.Run
	set, err := data.Multidist(run.Data.Variant, run.Data.Draw)
	if err != nil {
		return nil, err
	}
	e, err := expansion(r.Final.Model, run.Params.Kernel, set.Train.Dim, set.Classes)
	if err != nil {
		return nil, err
	}
	s := &surface{model: e, set: set, area: areaOf(set.Train, surfaceAspect), logits: run.Task == spec.TaskKLR}
	row := gridNodes * e.Outputs
	s.scores = make([]float64, gridNodes*row)
	x := make([]float64, 2*gridNodes)
	for j := range gridNodes {
		for i := range gridNodes {
			x[2*i], x[2*i+1] = s.area.at(float64(i), float64(j))
		}
		s.addScores(gridNodes, x, s.scores[j*row:(j+1)*row])
	}
	if slices.ContainsFunc(s.scores, func(v float64) bool { return !(math.Abs(v) < maxScore) }) {
		return nil, errors.New("the model in the record has values that are not finite")
	}
	return s, nil
}

// expansion returns the model of a record. A model with another number of features or classes is
// an error.
func expansion(m *record.Model, k spec.Kernel, dim, classes int) (*kernel.Expansion, error) {
	if m == nil {
		return nil, errors.New("there is no model in the record")
	}
	order := len(m.Dictionary) / dim
	if m.Dim != dim || m.Outputs != classes || order == 0 || order > record.MaxElements || len(m.Dictionary) != order*dim || len(m.Weights) != order*classes {
		return nil, fmt.Errorf("corrupt model in the record: %d features, %d outputs, %d coordinates and %d weights, want %d features, %d outputs and 1 to %d elements",
			m.Dim, m.Outputs, len(m.Dictionary), len(m.Weights), dim, classes, record.MaxElements)
	}
	kern, err := k.Kernel()
	if err == nil {
		err = kern.Validate()
	}
	if err != nil {
		return nil, err
	}
	e := kernel.NewExpansion(kern, dim, classes)
	for j := range order {
		e.Append(m.Dictionary[j*dim:(j+1)*dim], m.Weights[j*classes:(j+1)*classes])
	}
	return e, nil
}

// addScores adds the scores of n points to dst, n×Outputs. It computes in float64, so that the
// picture does not depend on the machine.
func (s *surface) addScores(n int, x, dst []float64) {
	m, c := s.model.Order(), s.model.Outputs
	k := kernel.MatrixOf(n, m, make([]float64, n*m))
	s.model.Dict.Block64(s.model.Kernel, kernel.MatrixOf(n, s.model.Dict.Dim(), x), k, 1)
	for i := range n {
		for j, v := range k.Row(i) {
			for q, w := range s.model.Weights(j) {
				dst[i*c+q] += float64(v * w)
			}
		}
	}
}

// confidence returns the probability of the class decided for, the softmax of the scores.
func confidence(scores []float64) float64 {
	top, sum := slices.Max(scores), 0.0
	for _, v := range scores {
		sum += math.Exp(v - top)
	}
	return 1 / sum
}

// margin returns how far the score of a class is above the best score of the other classes.
func margin(scores []float64, class int) float64 {
	other := math.Inf(-1)
	for c, v := range scores {
		if c != class {
			other = math.Max(other, v)
		}
	}
	return scores[class] - other
}

func (s *surface) draw(c draw.Canvas) {
	c.DrawImage(c.Rectangle, s.ground())
	drawPoints(c, s.area, s.set.Train, s.set.Classes, 0.95)
	if s.logits {
		for i, level := range confidenceLevels {
			s.drawContour(c, confidenceLines[i], level, confidence)
		}
	}
	for class := range s.set.Classes {
		s.drawContour(c, boundaryLine, 0, func(scores []float64) float64 { return margin(scores, class) })
	}
	for j := range s.model.Order() {
		d := s.model.Dict.At(j)
		if x, y := float64(d[0]), float64(d[1]); s.area.holds(x, y) {
			drawElement(c, s.area.place(c, x, y))
		}
	}
	s.area.drawAxes(c)
}

// ground is an image of the classes decided for, with a pixel for each node of the grid.
func (s *surface) ground() image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, gridNodes, gridNodes))
	at := 0
	for scores := range slices.Chunk(s.scores, s.model.Outputs) {
		class := slices.Index(scores, slices.Max(scores))
		m.SetNRGBA(at%gridNodes, gridNodes-1-at/gridNodes, pale(classColor(class)))
		at++
	}
	return m
}

// drawContour draws the line on which a quantity of the scores has a level.
func (s *surface) drawContour(c draw.Canvas, sty draw.LineStyle, level float64, of func(scores []float64) float64) {
	var above []float64 // the quantity less the level, at the grid's nodes
	for scores := range slices.Chunk(s.scores, s.model.Outputs) {
		above = append(above, of(scores)-level)
	}
	c.StrokeLines(sty, contour(gridNodes, above, func(i, j float64) vg.Point {
		x, y := s.area.at(i, j)
		return s.area.place(c, x, y)
	})...)
}

// contour returns the lines on which values at n×n nodes, interpolated linearly on both halves of
// each cell, are 0. place gives the point at a distance from the first node, in cells. A line leads from one edge of a half to another, with the positive values on its
// left. Each edge belongs to two halves, so that one line ends on it where another begins. Lines
// that end at the border come first, closed ones last, each kind in the order of the grid.
func contour(n int, values []float64, place func(i, j float64) vg.Point) (lines [][]vg.Point) {
	type edge [2]int               // two nodes, in ascending order
	next := make(map[edge]edge)    // the edge on which the line from an edge ends
	entered := make(map[edge]bool) // edges on which a line ends
	var from []edge                // the keys of next
	for k := range n * (n - 1) {
		if k%n == n-1 {
			continue
		}
		for _, half := range [][3]int{{k, k + 1, k + n}, {k + 1, k + n + 1, k + n}} {
			var falls, rises edge
			for i, a := range half {
				b := half[(i+1)%3]
				switch {
				case values[a] > 0 && values[b] <= 0:
					falls = edge{min(a, b), max(a, b)}
				case values[a] <= 0 && values[b] > 0:
					rises = edge{min(a, b), max(a, b)}
				}
			}
			if falls != rises {
				next[falls], entered[rises] = rises, true
				from = append(from, falls)
			}
		}
	}
	crossing := func(e edge) vg.Point {
		a, b := e[0], e[1]
		share := values[a] / (values[a] - values[b])
		return place(float64(a%n)+share*float64(b%n-a%n), float64(a/n)+share*float64(b/n-a/n))
	}
	for _, closed := range []bool{false, true} {
		for _, e := range from {
			if _, left := next[e]; !left || entered[e] != closed {
				continue
			}
			line := []vg.Point{crossing(e)}
			for to, ok := next[e]; ok; to, ok = next[e] {
				delete(next, e)
				line = append(line, crossing(to))
				e = to
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// An area is a rectangle of the plane of two features. It draws its own axes because both must
// have the same scale, which gonum's plots do not support.
type area struct{ min, max [2]float64 }

// areaOf returns the area of a panel that shows all points of a split with a margin. The area is
// aspect times as high as it is wide, and both axes have the same scale.
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

// at returns the point of the plane at a place on the grid, whose nodes are the middles of pixels
// that fill the area.
func (a area) at(i, j float64) (x, y float64) {
	return a.min[0] + (a.max[0]-a.min[0])*(i+0.5)/gridNodes, a.min[1] + (a.max[1]-a.min[1])*(j+0.5)/gridNodes
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

// maxPoints is the maximum number of points of a data set that are shown; more would hide each
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

// holds says whether a point lies in the area.
func (a area) holds(x, y float64) bool {
	return a.min[0] <= x && x <= a.max[0] && a.min[1] <= y && y <= a.max[1]
}
