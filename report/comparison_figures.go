package report

import (
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/compare"
	"polkrepro/evidence/stats"
	"polkrepro/internal/words"
	"polkrepro/report/plot"
)

// comparisonFigures makes all figures of a comparison: each data set's trade-offs, then the ranks.
func comparisonFigures(res *compare.Result) []*Figure {
	var names []string
	for _, f := range res.DataSets {
		for _, e := range f.Entries {
			names = append(names, e.Name)
		}
	}
	looks := badges(names, res.Reference)
	var out []*Figure
	for _, f := range res.DataSets {
		least := 0.0
		if len(f.Orders) > 0 {
			least = f.Orders[0] / 4
		}
		study := costStudy{name: f.Name, title: f.Title, task: f.Task, looks: looks, rules: f.Orders, reference: costsOf(f.Reference()),
			about: fmt.Sprintf("A point for each value of the size parameter, over %d replicates of %d samples. "+
				"Below each name: the verdict at equal model order, or time. Fine lines: the model orders at which errors are compared.", f.Replicates, f.Samples)}
		left := 0
		for _, e := range f.Entries[1:] {
			if len(e.Runs) > 0 {
				c := costsOf(e)
				c.points = slices.DeleteFunc(c.points, func(p costPoint) bool { return p.order < least })
				left += len(e.Points) - len(c.points)
				study.others = append(study.others, c)
			}
		}
		if left > 0 { // because the panels share their axes
			study.about += fmt.Sprintf(" Not drawn: %s with fewer than a quarter of the least model order compared.", words.Count(left, "point"))
		}
		for _, fig := range costFigures(study) {
			if len(study.others) == 0 {
				fig.Missing = fmt.Sprintf("no heuristic other than %s has runs", res.Reference)
			}
			out = append(out, fig)
		}
	}
	if res.Standing != nil {
		out = append(out, rankFigure("ranks", res.Standing, res.Reference, "heuristic"))
	}
	return out
}

// rankFigure shows mean ranks, of heuristics or of methods.
func rankFigure(name string, s *compare.Standing, reference, noun string) *Figure {
	over := fmt.Sprintf("%d blocks, replicates of %d data sets", s.Blocks, s.DataSets)
	if s.Block != "" {
		over = words.Count(s.Blocks, s.Block)
	}
	return &Figure{Name: name, Title: "Mean ranks by error at equal model order", Drawing: &ranks{s, reference},
		Caption: fmt.Sprintf("Mean ranks over %s; 1 is the best. Bars join %ss whose ranks differ by less than Nemenyi's critical difference (CD, level 5 %%).", over, noun)}
}

// costsOf returns the costs and errors of a heuristic at each value of its size parameter, and the verdicts
// on it.
func costsOf(e *compare.Entry) costCurve {
	c := costCurve{name: e.Name, remarks: make(map[compare.Measure]string)}
	for m, compared := range e.Compared { // none of the reference
		c.remarks[compare.Measure(m)] = compare.Measure(m).Verdict(compared.Verdict)
	}
	for _, p := range e.Points {
		var errors []float64
		for _, r := range e.Runs {
			if r.Value == p.Value {
				errors = append(errors, float64(r.Error))
			}
		}
		c.points = append(c.points, costPoint{p.Order, p.Seconds, float64(p.Error), deviation(errors)})
	}
	return c
}

// ranks is a critical-difference diagram (Demšar, JMLR 7, 2006): names on a scale of mean ranks,
// and bars below it that join heuristics that can't be distinguished.
type ranks struct {
	standing  *compare.Standing
	reference string
}

// Measures of a critical-difference diagram.
const (
	ranksEdge = vg.Length(110) // for names on either side
	ranksHead = vg.Length(38)
	ranksRow  = vg.Length(12)
	ranksBar  = vg.Length(5)
)

// cliques are the groups that bars join.
func (r *ranks) cliques() [][2]int {
	var mean []float64
	for _, rank := range r.standing.Ranks {
		mean = append(mean, rank.Mean)
	}
	return stats.Cliques(mean, r.standing.CD)
}

// foot is the height of the bars.
func (r *ranks) foot() vg.Length { return 6 + ranksBar*vg.Length(len(r.cliques())) }

// Size is the size in print.
func (r *ranks) Size() (w, h vg.Length) {
	half := (len(r.standing.Ranks) + 1) / 2
	return plot.Width, ranksHead + r.foot() + ranksRow*vg.Length(half) + 8
}

// x returns the position of a mean rank.
func (r *ranks) x(rank float64) vg.Length {
	k := float64(len(r.standing.Ranks))
	return ranksEdge + (plot.Width-2*ranksEdge)*vg.Length((rank-1)/(k-1))
}

// Draw draws the scale, the bars and the names.
func (r *ranks) Draw(c draw.Canvas) {
	axis := c.Max.Y - ranksHead
	r.drawScale(c, axis)
	for i, clique := range r.cliques() {
		y := axis - 6 - ranksBar*vg.Length(i)
		c.StrokeLine2(draw.LineStyle{Color: plot.RGB(0, 0, 0), Width: 2.2},
			r.x(r.standing.Ranks[clique[0]].Mean)-2, y, r.x(r.standing.Ranks[clique[1]].Mean)+2, y)
	}
	n := len(r.standing.Ranks)
	half := (n + 1) / 2
	for i, rank := range r.standing.Ranks {
		line, right := i, i >= half
		if right {
			line = n - 1 - i
		}
		r.drawName(c, rank.Name, rank.Mean, axis, axis-r.foot()-ranksRow*(vg.Length(line)+0.5), right)
	}
}

// drawName draws a heuristic's name at the left or right edge and a line from its mean rank on
// the axis.
func (r *ranks) drawName(c draw.Canvas, name string, rank float64, axis, y vg.Length, right bool) {
	edge, align := ranksEdge-12, draw.XRight
	gap := vg.Length(-3)
	if right {
		edge, align, gap = plot.Width-ranksEdge+12, draw.XLeft, 3
	}
	ink := plot.RGB(0x55, 0x55, 0x55)
	if name == r.reference {
		ink = lookOf("polk", 0).Color
	}
	x := r.x(rank)
	c.StrokeLines(draw.LineStyle{Color: ink, Width: 0.7}, []vg.Point{{X: x, Y: axis}, {X: x, Y: y}, {X: edge, Y: y}})
	sty := plot.Letters(plot.LabelSize, align, draw.YCenter)
	sty.Color = ink
	if name != r.reference {
		sty.Color = plot.RGB(0, 0, 0)
	}
	plot.FillMiddle(c, sty, vg.Point{X: edge + gap, Y: y}, fmt.Sprintf("%s  %.1f", plot.Plain(name), rank))
}

// drawScale draws the axis and, above it, the critical difference.
func (r *ranks) drawScale(c draw.Canvas, y vg.Length) {
	line := draw.LineStyle{Color: plot.RGB(0, 0, 0), Width: 0.6}
	k := len(r.standing.Ranks)
	c.StrokeLine2(line, r.x(1), y, r.x(float64(k)), y)
	for i := 1; i <= k; i++ {
		x := r.x(float64(i))
		c.StrokeLine2(line, x, y, x, y+3)
		c.FillText(plot.Letters(plot.TickSize, draw.XCenter, draw.YBottom), vg.Point{X: x, Y: y + 4}, strconv.Itoa(i))
	}
	top := y + 20
	end := r.x(1 + min(r.standing.CD, float64(k-1)))
	c.StrokeLine2(line, r.x(1), top, end, top)
	for _, x := range []vg.Length{r.x(1), end} {
		c.StrokeLine2(line, x, top-2.5, x, top+2.5)
	}
	c.FillText(plot.Letters(plot.TickSize, draw.XLeft, draw.YCenter), vg.Point{X: end + 5, Y: top}, fmt.Sprintf("CD = %.2f", r.standing.CD))
}
