package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"polkrepro/evidence"
	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/record"
)

// curves are the contents of a figure of curves over the samples processed.
type curves struct {
	series []*Series
	data   experiments.PaperData
	paper  experiments.PaperFigure
	cells  map[string]experiments.PaperCell
}

// streams makes the figures of the planned runs on streams that fit, one for each data
// set and task; number is that of figure i.
func (b *builder) streams(fits func(experiments.Planned) bool, number func(i int) string) []*Figure {
	var streams [][]*Series
	for _, s := range b.series(fits) {
		if s.batch() {
			continue
		}
		if n := len(streams); n > 0 && streams[n-1][0].Run.Task == s.Run.Task && streams[n-1][0].dataName() == s.dataName() {
			streams[n-1] = append(streams[n-1], s)
		} else {
			streams = append(streams, []*Series{s})
		}
	}
	var out []*Figure
	for i, all := range streams {
		run := all[0].Run
		name := number(i)
		f := &Figure{Name: "figure" + name, Title: fmt.Sprintf("Figure %s. %s on %s", name, taskTitle(run.Task), all[0].dataName())}
		b.curves(f, experiments.PaperFigure{Data: run.Data.Name, Task: run.Task}, all)
		out = append(out, f)
	}
	return out
}

// errorName is what axes call the error of a task.
func errorName(task string) string {
	if task == experiments.TaskRegression {
		return "test RMSE (% of deviation)"
	}
	return "test error rate (%)"
}

// errorWords is what captions call the error of a task.
func errorWords(task string) string {
	if task == experiments.TaskRegression {
		return "root-mean-square error"
	}
	return "error rate"
}

// taskTitle is the paper's name of a task, or the task's own.
func taskTitle(task string) string {
	switch task {
	case experiments.TaskKLR:
		return "Multi-Logistic"
	case experiments.TaskKSVM:
		return "Multi-KSVM"
	}
	return task
}

// curves fills a figure of the curves of series. One without records keeps its
// rank, so that the others look as they do in a whole figure; one whose records
// have no evaluations, which are valid without, has no curve.
func (b *builder) curves(f *Figure, pf experiments.PaperFigure, all []*Series) {
	var planned []experiments.Planned
	runs, without := 0, 0
	for i, s := range all {
		if i > 0 && all[i-1].Run.Method == s.Run.Method {
			s.Rank = all[i-1].Rank + 1
		}
		planned = append(planned, s.planned...)
		have := len(s.Runs)
		s.Runs = slices.DeleteFunc(s.Runs, func(r *record.Record) bool { return len(r.Points) == 0 })
		if len(s.Runs) > 0 {
			f.Series = append(f.Series, s)
		}
		runs, without = runs+have, without+have-len(s.Runs)
	}
	switch {
	case runs == 0:
		f.Missing = b.absent(planned, pf.Data).Cell()
		return
	case len(f.Series) == 0:
		f.Missing = "the records have no evaluations"
		return
	}
	c := &curves{series: f.Series, data: b.paper.Data[pf.Data], paper: pf, cells: b.paper.Cells}
	f.content, f.Caption = c, c.caption(evidence.Lost(len(planned), b.gaps(planned)))
	if without > 0 {
		f.Caption += fmt.Sprintf(" %d runs whose records have no evaluations are not drawn.", without)
	}
}

// A quantity is what a panel shows.
type quantity struct {
	name  string
	label string
	log   bool
	of    func(record.Point) float64
	cell  func(experiments.PaperCell) *float64
}

// quantities returns the three quantities of all figures; which risk the
// first one is differs between data sets.
func (c *curves) quantities() []quantity {
	risk := quantity{"risk", riskName(c.data.Risk) + " R(f_t)", true,
		func(p record.Point) float64 { return p.TestRisk },
		func(c experiments.PaperCell) *float64 { return c.Risk }}
	if c.data.Risk == experiments.RiskTrain {
		risk.of = func(p record.Point) float64 { return p.TrainRisk }
	}
	return []quantity{risk,
		{"error", errorName(c.paper.Task), true,
			func(p record.Point) float64 { return 100 * p.TestError },
			func(c experiments.PaperCell) *float64 { return c.Error }},
		{"order", "model order M_t", false,
			func(p record.Point) float64 { return float64(p.ModelOrder) },
			func(c experiments.PaperCell) *float64 { return c.Order }},
	}
}

func (c *curves) drawing() drawing {
	p := &picture{}
	levels, marks, bands := false, false, false
	for i, q := range c.quantities() {
		pn := c.panel(q)
		pn.tag = fmt.Sprintf("(%c)", 'a'+i)
		if q.name == experiments.QuantityRisk && c.data.Risk == experiments.RiskTrain {
			pn.tag += " on training data"
		}
		for _, t := range pn.traces {
			levels = levels || len(t.levels) > 0
			bands = bands || spread(t.curve)
		}
		marks = marks || len(pn.marks) > 0
		p.panels = append(p.panels, pn)
	}
	for _, s := range c.series {
		p.legend = append(p.legend, lineEntry(plainLetters(s.Label), s.look()))
	}
	if bands {
		p.legend = append(p.legend, bandEntry())
	}
	if levels {
		p.legend = append(p.legend, levelEntry("final value printed in the paper"))
	}
	if marks {
		p.legend = append(p.legend, iconEntry("stated in the paper's text", drawMean))
	}
	return p
}

// panel makes the panel of a quantity.
func (c *curves) panel(q quantity) panel {
	pn := panel{ylabel: q.label, log: q.log, xmax: 1}
	var level []int // the traces of batch methods, which reach from edge to edge
	for _, s := range c.series {
		if !s.shows(q) {
			continue
		}
		t := trace{look: s.look(), curve: average(s.Runs, q.of)}
		if s.batch() {
			level = append(level, len(pn.traces))
		} else {
			t.levels = c.levels(s, q)
		}
		for _, v := range t.curve {
			pn.xmax = math.Max(pn.xmax, v.x)
		}
		pn.traces = append(pn.traces, t)
	}
	for _, i := range level {
		last := pn.traces[i].curve[len(pn.traces[i].curve)-1]
		right := last
		last.x, right.x = 0, pn.xmax
		pn.traces[i].curve = []sample{last, right}
	}
	pn.marks = c.marks(q, pn.xmax)
	return pn
}

// look is how the series is drawn in every picture.
func (s *Series) look() look {
	if s.own != nil {
		return *s.own
	}
	return lookOf(s.Run.Method, s.Rank)
}

// batch reports whether the series is of a method that sees all data at once:
// it has one value, which is drawn across the panel.
func (s *Series) batch() bool { return s.Run.Batch() }

// shows reports whether a quantity of the series is drawn: not the model order
// of a batch method, which may be all of the training set, nor a risk that its
// method does not have.
func (s *Series) shows(q quantity) bool {
	if q.name == experiments.QuantityOrder {
		return !s.batch()
	}
	return q.name != experiments.QuantityRisk || s.Run.HasRisk()
}

// levels are the values that the paper prints for a series, without
// repetition.
func (c *curves) levels(s *Series, q quantity) []float64 {
	var out []float64
	for _, id := range s.Cells {
		cell, ok := c.cells[id]
		if !ok || cell.Data != c.paper.Data || cell.Task != c.paper.Task {
			continue
		}
		if v := q.cell(cell); v != nil {
			out = appendNew(out, *v)
		}
	}
	return out
}

// marks are the values of a quantity that the paper's text states for the
// figure; those of the last sample are drawn a little before the edge.
func (c *curves) marks(q quantity, xmax float64) []mark {
	var out []mark
	for _, st := range c.paper.Stated {
		if st.Quantity != q.name || st.Low == nil && st.High == nil {
			continue
		}
		m := mark{x: float64(st.Samples), look: c.lookOfCell(st.Cell)}
		if st.Samples == 0 {
			m.x = 0.97 * xmax
		}
		m.low, m.high = *cmp.Or(st.Low, st.High), *cmp.Or(st.High, st.Low)
		if !slices.Contains(c.printed(q), m.high) || m.low < m.high || st.Samples > 0 {
			out = append(out, m)
		}
	}
	return out
}

// printed are all the levels of a quantity in the figure.
func (c *curves) printed(q quantity) []float64 {
	var out []float64
	for _, s := range c.series {
		out = append(out, c.levels(s, q)...)
	}
	return out
}

// lookOfCell is the look of the series that feeds a cell, or black.
func (c *curves) lookOfCell(cell string) look {
	for _, s := range c.series {
		if cell != "" && slices.Contains(s.Cells, cell) {
			return s.look()
		}
	}
	return look{color: rgb(0, 0, 0)}
}

// average is the mean and range, over runs, of a quantity at every number of
// samples, from 0 on, at which a run was evaluated. Values that are not finite are left
// out; where there are no others the mean is not a number.
func average(runs []*record.Record, of func(record.Point) float64) []sample {
	return averaged(finiteAt(runs, of))
}

// averaged is the mean and range of the values at every number of samples.
func averaged(at map[int][]float64) []sample {
	curve := make([]sample, 0, len(at))
	for x, vs := range at {
		s := sample{x: float64(x), mean: math.NaN(), low: math.NaN(), high: math.NaN()}
		if len(vs) > 0 {
			s.mean, s.low, s.high = mean(vs), slices.Min(vs), slices.Max(vs)
		}
		curve = append(curve, s)
	}
	slices.SortFunc(curve, func(a, b sample) int { return cmp.Compare(a.x, b.x) })
	return curve
}

// caption says what the picture shows and what it leaves out.
func (c *curves) caption(lost string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "(a) %s, (b) %s on the test set, (c) model order, against the number of training samples processed. ", riskName(c.data.Risk), errorWords(c.paper.Task))
	b.WriteString("Lines are means over runs")
	var counts []string
	several := ""
	for _, s := range c.series {
		counts = append(counts, fmt.Sprintf("%s: %d", s.Label, len(s.Runs)))
		if len(s.Runs) > 1 {
			several = "; bands reach from the least to the greatest"
		}
	}
	fmt.Fprintf(&b, " (%s)%s. ", strings.Join(counts, "; "), several)
	if slices.ContainsFunc(c.series, (*Series).batch) {
		b.WriteString("Lines from edge to edge: batch methods, which see all training samples at once. ")
	}
	if c.paper.ID != "" { // the paper has such a figure
		b.WriteString("Dotted lines and the wedges at the right edge: the paper's tables; diamonds: the paper's text.")
	}
	if n := c.undrawn(); n > 0 {
		fmt.Fprintf(&b, " %d values that are not finite, or not positive on a logarithmic axis, are not drawn.", n)
	}
	if lost != "" {
		b.WriteString(" " + lost)
	}
	return b.String()
}

// undrawn counts the values that have no place in the picture.
func (c *curves) undrawn() int {
	n := 0
	for _, q := range c.quantities() {
		pn := panel{log: q.log}
		for _, s := range c.series {
			if !s.shows(q) {
				continue
			}
			for _, r := range s.Runs {
				for _, p := range r.Points {
					if !pn.drawable(q.of(p)) {
						n++
					}
				}
			}
		}
	}
	return n
}

// rows are the evaluations of all runs.
func (c *curves) rows() [][]string {
	rows := [][]string{{"series", "seed", "draw", "samples", "train_risk", "test_risk", "error_percent", "model_order"}}
	for _, s := range c.series {
		for _, r := range s.Runs {
			run := r.Header.Run
			for _, p := range r.Points {
				rows = append(rows, []string{s.Label, strconv.FormatUint(run.Seed, 10), strconv.FormatUint(run.Data.Draw, 10),
					strconv.Itoa(p.Samples), words.Exact(p.TrainRisk), words.Exact(p.TestRisk), words.Exact(100 * p.TestError), strconv.Itoa(p.ModelOrder)})
			}
		}
	}
	return rows
}
