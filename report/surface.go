package report

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/record"
	"polkrepro/report/plot"
)

// surfaceAspect is the height of a panel over its width.
const surfaceAspect = 1.12

// gridNodes is the number of nodes a side of the grid that a surface is drawn
// on, and gridStep how many of them the CSV file goes on by: 121 a side.
const (
	gridNodes = 241
	gridStep  = 2
)

// confidenceLevels are the probabilities at which contours are drawn, and
// confidenceDashes their dashes.
var (
	confidenceLevels = []float64{0.75, 0.95}
	confidenceDashes = [][]vg.Length{{4, 2}, {1.2, 1.4}}
)

// A surface is the decisions of one model on the plane, beside the data it was
// trained on.
type surface struct {
	panel, heading string
	series         string // of the run, as in legends
	run            experiments.Run
	model          *kernel.Expansion
	errorRate      float64 // on the test set, in per cent
	set            *data.Set
	area           area
	scores         []float64 // at the grid's nodes, node (i, j)'s from (j·gridNodes+i)·Outputs on

	regions    [][][]plot.Node // outlines of what is decided for each class
	boundaries [][]plot.Node
	confident  [][][]plot.Node // contours of the confidenceLevels; none of scores that are not logits
}

// maxScore bounds what is drawn, so that differences stay within a float64.
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
	s := &surface{run: run, model: e, errorRate: 100 * r.Final.TestError, set: set, area: areaOf(set.Train, surfaceAspect)}
	row := gridNodes * e.Outputs
	s.scores = make([]float64, gridNodes*row)
	x := make([]float64, 2*gridNodes)
	for j := range gridNodes {
		for i := range gridNodes {
			x[2*i], x[2*i+1] = s.area.at(plot.Node{X: float64(i), Y: float64(j)}, gridNodes)
		}
		s.scoresAt(gridNodes, x, s.scores[j*row:(j+1)*row])
	}
	if slices.ContainsFunc(s.scores, func(v float64) bool { return !(math.Abs(v) < maxScore) }) {
		return nil, errors.New("the model in the record has values that are not finite")
	}
	return s, nil
}

// expansion is the model of a record, which must be one on so many features
// and classes.
func expansion(m *record.Model, k experiments.Kernel, dim, classes int) (*kernel.Expansion, error) {
	if m == nil {
		return nil, errors.New("there is no model in the record")
	}
	order := len(m.Dictionary) / dim
	switch {
	case m.Dim != dim || m.Outputs != classes:
		return nil, fmt.Errorf("the model in the record has %d features and %d outputs, not %d and %d", m.Dim, m.Outputs, dim, classes)
	case order == 0:
		return nil, errors.New("the model in the record is empty")
	case order > record.MaxElements:
		return nil, fmt.Errorf("the model in the record has %d elements, more than the %d that are drawn", order, record.MaxElements)
	case len(m.Dictionary) != order*dim || len(m.Weights) != order*classes:
		return nil, fmt.Errorf("the model in the record is damaged: %d coordinates and %d weights", len(m.Dictionary), len(m.Weights))
	}
	kern, err := k.Kernel()
	if err != nil {
		return nil, err
	}
	if err := kern.Validate(); err != nil {
		return nil, err
	}
	e := kernel.NewExpansion(kern, dim, classes)
	for j := range order {
		e.Append(m.Dictionary[j*dim:(j+1)*dim], m.Weights[j*classes:(j+1)*classes])
	}
	return e, nil
}

// scoresAt adds the scores of n points to dst, n×Outputs. It computes in
// float64: the digits written of them must not depend on the machine.
func (s *surface) scoresAt(n int, x, dst []float64) {
	m, c := s.model.Order(), s.model.Outputs
	k := make([]float64, n*m)
	s.model.Dict.Block64(s.model.Kernel, n, x, k, m, 1)
	for i := range n {
		for j, v := range k[i*m : (i+1)*m] {
			for q, w := range s.model.Weights(j) {
				dst[i*c+q] += float64(v * w)
			}
		}
	}
}

// at returns the scores at a node.
func (s *surface) at(i, j int) []float64 {
	c := s.model.Outputs
	return s.scores[(j*gridNodes+i)*c : (j*gridNodes+i+1)*c]
}

// probabilistic says whether the scores are logits of the classes.
func (s *surface) probabilistic() bool { return s.run.Task == experiments.TaskKLR }

// confidence is the probability of the class decided for (the softmax of the
// scores).
func confidence(scores []float64) float64 {
	top, sum := slices.Max(scores), 0.0
	for _, v := range scores {
		sum += math.Exp(v - top)
	}
	return 1 / sum
}

// margin is how far the score of a class is above that of the best other one.
func margin(scores []float64, class int) float64 {
	other := math.Inf(-1)
	for c, v := range scores {
		if c != class {
			other = math.Max(other, v)
		}
	}
	return scores[class] - other
}

// field is a quantity at the grid's nodes, for contours.
func (s *surface) field(of func(scores []float64) float64) []float64 {
	out := make([]float64, 0, gridNodes*gridNodes)
	for scores := range slices.Chunk(s.scores, s.model.Outputs) {
		out = append(out, of(scores))
	}
	return out
}

// title is the panel's title.
func (s *surface) title() string {
	return fmt.Sprintf("%s: M = %d, test error %.1f %%", s.heading, s.model.Order(), s.errorRate)
}

// trace finds the lines that are drawn, once for all formats.
func (s *surface) trace() {
	if s.regions != nil {
		return
	}
	for class := range s.set.Classes {
		field := s.field(func(scores []float64) float64 { return margin(scores, class) })
		s.regions = append(s.regions, plot.Regions(gridNodes, field))
		s.boundaries = append(s.boundaries, plot.Contours(gridNodes, field, 0)...)
	}
	if s.probabilistic() {
		field := s.field(confidence)
		for _, level := range confidenceLevels {
			s.confident = append(s.confident, plot.Contours(gridNodes, field, level))
		}
	}
}

func (s *surface) draw(c draw.Canvas) {
	s.trace()
	for class, outlines := range s.regions {
		var path vg.Path
		for _, outline := range s.placed(c, outlines) {
			addPolygon(&path, outline)
		}
		c.SetColor(pale(classColor(class)))
		c.Fill(path)
	}
	drawPoints(c, s.area, s.set.Train, s.set.Classes, 0.95)
	for i, lines := range s.confident {
		c.StrokeLines(confidenceLine(i), s.placed(c, lines)...)
	}
	c.StrokeLines(boundaryLine(), s.placed(c, s.boundaries)...)
	for j := range s.model.Order() {
		d := s.model.Dict.At(j)
		if x, y := float64(d[0]), float64(d[1]); s.area.holds(x, y) {
			drawElement(c, s.area.place(c, x, y))
		}
	}
	s.area.drawAxes(c)
}

// placed are lines on the grid where they are drawn on a canvas.
func (s *surface) placed(c draw.Canvas, lines [][]plot.Node) [][]vg.Point {
	out := make([][]vg.Point, len(lines))
	for i, line := range lines {
		for _, p := range line {
			x, y := s.area.at(p, gridNodes)
			out[i] = append(out[i], s.area.place(c, x, y))
		}
	}
	return out
}

// boundaryLine is the style of a boundary between classes.
func boundaryLine() draw.LineStyle { return draw.LineStyle{Color: plot.RGB(0, 0, 0), Width: 0.9} }

// confidenceLine is the style of the contour of a level of confidence.
func confidenceLine(i int) draw.LineStyle {
	return draw.LineStyle{Color: plot.RGB(0x22, 0x22, 0x22), Width: 0.7, Dashes: confidenceDashes[i]}
}

// row is a line of the CSV file: the decision at a point.
func (s *surface) row(kind string, x, y float64, scores []float64) []string {
	row := []string{s.panel, kind, coordinate(x), coordinate(y), strconv.Itoa(loss.Predict(scores)), ""}
	if s.probabilistic() {
		row[5] = strconv.FormatFloat(confidence(scores), 'f', 4, 64)
	}
	return row
}
