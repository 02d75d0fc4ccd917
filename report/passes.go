package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"polkrepro/paper"
	"polkrepro/record"
	"polkrepro/report/plot"
	"polkrepro/spec"
)

const passesText = "The paper does not say how often it went through Brodatz. Where a method's path passes the printed risk and error at one place " +
	"and the printed order at another, no number of passes gives all three."

// A pathPoint holds a method's values after a number of samples or, for L-BFGS, iterations: means
// over runs, with the error in per cent.
type pathPoint struct {
	after  int
	values [quantityCount]float64
	off    float64 // the largest relative distance of a value from the printed one
}

// A path is the course of a method's training, with the values that the paper prints.
type path struct {
	series  *Series // first series of the path
	label   string
	printed [quantityCount]*float64
	points  []pathPoint
}

// passes makes the figures of the paths on Brodatz, one for each task.
func (b *builder) passes() (out []*Figure) {
	for _, task := range spec.Tasks() {
		if paths := b.paths("table3.brodatz." + task + "."); len(paths) > 0 {
			out = append(out, &Figure{
				Name:  "passes-" + task,
				Title: "Which number of passes? " + taskTitle(task) + " on brodatz",
				Caption: "(a) Error and (b) model order against the training risk along the passes, from right to left; of L-BFGS along its iterations. " +
					"Means over runs; diamonds: as printed. Nearest to all that is printed, by the largest relative distance: " + nearest(paths) + ".",
				Drawing: passesPicture(paths),
				Data:    func() [][]string { return passesRows(paths) },
			})
		}
	}
	return out
}

// paths returns the paths of the methods in the cells whose IDs begin with cells. It includes
// runs of these methods with other published budget maintenance. The path of a batch method joins
// its runs that stop after a given number of iterations.
func (b *builder) paths(cells string) (out []*path) {
	of := make(map[string]bool)
	// The ID of a run without the settings in which it may differ from the cell's run.
	key := func(r spec.Run) string {
		r.Params.Maintenance, r.Params.Iterations, r.Evaluation = "", 0, spec.Evaluation{}
		return spec.ID(r)
	}
	for _, p := range b.planned(func(p spec.Planned) bool {
		return slices.ContainsFunc(p.Cells, func(id string) bool { return id == cells+p.Run.Method })
	}) {
		of[key(p.Run)] = true
	}
	for _, s := range ranked(b.series(func(p spec.Planned) bool {
		return of[key(p.Run)] && p.Run.Params.Maintenance != "keep-newest" && (!p.Run.Batch() || p.Run.Params.Iterations > 0)
	}), func(*record.Record) bool { return true }) {
		if last := len(out) - 1; last < 0 || !s.batch() || out[last].series.Run.Method != s.Run.Method {
			p := &path{series: s, label: spec.Method(s.Run.Method).Title, printed: numbersOf(b.paper.Cells[cells+s.Run.Method])}
			if m := s.Run.Params.Maintenance; m != "" {
				p.label += ", " + m
			}
			out = append(out, p)
		}
		out[len(out)-1].add(s)
	}
	for _, p := range out {
		slices.SortFunc(p.points, func(x, y pathPoint) int { return cmp.Compare(x.after, y.after) })
	}
	return out
}

// add adds the points of a series.
func (p *path) add(s *Series) {
	var at [quantityCount][]plot.Sample
	for q, shown := range quantitiesOf(paper.RiskTrain, s.Run.Task) {
		at[q] = average(s.Runs, shown.of)
	}
	for i, risk := range at[qRisk] {
		point := pathPoint{after: int(risk.X)}
		if s.batch() {
			point.after = s.Run.Params.Iterations
		}
		for q := range at {
			point.values[q] = at[q][i].Mean
			if v := p.printed[q]; v != nil {
				point.off = max(point.off, math.Abs(point.values[q] / *v - 1))
			}
		}
		p.points = append(p.points, point)
	}
}

// nearest names, for each path, the point that is nearest to all printed numbers.
func nearest(paths []*path) string {
	var out []string
	for _, p := range paths {
		best := slices.MinFunc(p.points, func(x, y pathPoint) int { return cmp.Compare(x.off, y.off) })
		unit := "samples"
		if p.series.batch() {
			unit = "iterations"
		}
		v := best.values
		out = append(out, fmt.Sprintf("%s after %d %s (%s, %s %% and %s: up to %.0f %% off)", p.label, best.after, unit,
			number(v[qRisk], qRisk, v[qRisk]), number(v[qError], qError, v[qError]), number(v[qOrder], qOrder, v[qOrder]), 100*best.off))
	}
	return strings.Join(out, "; ")
}

// passesPicture lays a figure of paths out.
func passesPicture(paths []*path) *plot.Picture {
	p := &plot.Picture{}
	shown := quantitiesOf(paper.RiskTrain, paths[0].series.Run.Task)
	for i, q := range []int{qError, qOrder} {
		pn := &plot.Panel{Title: fmt.Sprintf("(%c)", 'a'+i), XLabel: riskName(paper.RiskTrain), YLabel: shown[q].label, LogX: true, LogY: true}
		for _, of := range paths {
			look := of.series.look()
			t := plot.Trace{Label: of.label, Look: look}
			for _, point := range of.points {
				t.Curve = append(t.Curve, plot.Single(point.values[qRisk], point.values[q]))
			}
			pn.Traces = append(pn.Traces, t)
			if of.printed[qRisk] != nil && of.printed[q] != nil {
				pn.Marks = append(pn.Marks, plot.Mark{X: *of.printed[qRisk], Low: *of.printed[q], High: *of.printed[q], Look: look})
			}
		}
		pn.Span()
		p.Panels = append(p.Panels, pn)
	}
	for _, of := range paths {
		p.Legend = append(p.Legend, plot.LineEntry(of.label, of.series.look()))
	}
	p.Explain("", "printed in the paper's table")
	return p
}

// passesRows are the points of all paths.
func passesRows(paths []*path) [][]string {
	rows := [][]string{strings.Fields("series samples_or_iterations train_risk error_percent model_order largest_relative_distance")}
	for _, p := range paths {
		for _, at := range p.points {
			rows = append(rows, line(p.label, at.after, at.values[qRisk], at.values[qError], at.values[qOrder], at.off))
		}
	}
	return rows
}
