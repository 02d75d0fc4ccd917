package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"polkrepro/experiments"
	"polkrepro/record"
)

// curves are the contents of a figure of curves over the samples processed.
type curves struct {
	series []*Series
	data   experiments.PaperData
	paper  experiments.PaperFigure
	cells  map[string]experiments.PaperCell
}

// A Series is the runs behind one line of a figure: one method with one set
// of hyper-parameters, over seeds and draws.
type Series struct {
	Label  string
	Method string
	Rank   int // among the method's planned series, 0 for the largest model order
	Cells  []string
	Runs   []*record.Record

	params experiments.Params
}

// otherCurves makes the figures of runs on streams of data that the paper does
// not have, one for each data set and task, numbered from first on.
func (b *builder) otherCurves(first int) []*Figure {
	var out []*Figure
	byKey := map[string][]experiments.Planned{}
	for _, g := range b.costGroups() {
		run := g.first.Run
		if _, ok := b.paper.Data[run.Data.Name]; ok || run.Batch() {
			continue
		}
		key := run.Task + "\x00" + g.name()
		if byKey[key] == nil {
			out = append(out, &Figure{
				Name:  fmt.Sprintf("figureS%d", first+len(out)),
				Title: fmt.Sprintf("Figure S%d. %s on %s", first+len(out), taskTitle(run.Task), g.name()),
				key:   key,
			})
		}
		byKey[key] = append(byKey[key], g.planned...)
	}
	for _, f := range out {
		run := byKey[f.key][0].Run
		b.curves(f, experiments.PaperFigure{Data: run.Data.Name, Task: run.Task}, byKey[f.key])
	}
	return out
}

// taskTitle is the paper's name of a task.
func taskTitle(task string) string {
	if task == experiments.TaskKLR {
		return "Multi-Logistic"
	}
	return "Multi-KSVM"
}

// curves fills a figure of the curves of planned runs.
func (b *builder) curves(f *Figure, pf experiments.PaperFigure, planned []experiments.Planned) {
	all := b.series(planned)
	f.Series = evaluated(all)
	switch {
	case len(all) == 0:
		f.Missing = b.absent(planned, pf.Data)
		return
	case len(f.Series) == 0:
		f.Missing = "the records have no evaluations"
		return
	}
	c := &curves{series: f.Series, data: b.paper.Data[pf.Data], paper: pf, cells: b.paper.Cells}
	f.content, f.Caption = c, c.caption(b.lost(planned))
	if n := countRuns(all) - countRuns(f.Series); n > 0 {
		f.Caption += fmt.Sprintf(" %d runs whose records have no evaluations are not drawn.", n)
	}
}

// evaluated returns the series without the runs whose records have no
// evaluations: a record is valid without, but has no curve.
func evaluated(all []*Series) []*Series {
	var out []*Series
	for _, s := range all {
		with := *s
		with.Runs = slices.DeleteFunc(slices.Clone(s.Runs), func(r *record.Record) bool { return len(r.Points) == 0 })
		if len(with.Runs) > 0 {
			out = append(out, &with)
		}
	}
	return out
}

// countRuns counts the runs of series.
func countRuns(all []*Series) int {
	n := 0
	for _, s := range all {
		n += len(s.Runs)
	}
	return n
}

// series groups the records of planned runs, POLK first and each method's
// from the largest model order down. A series without records keeps its rank,
// so that the others look as they do in a whole figure.
func (b *builder) series(planned []experiments.Planned) []*Series {
	byGroup := map[string]*Series{}
	var all []*Series
	for _, p := range planned {
		s := byGroup[p.Group]
		if s == nil {
			s = &Series{Label: p.Series, Method: p.Run.Method, params: p.Run.Params}
			byGroup[p.Group] = s
			all = append(all, s)
		}
		if r := b.in.Records[p.ID]; r != nil {
			s.Runs = append(s.Runs, r)
		}
		s.addCells(p.Cells)
	}
	slices.SortFunc(all, compareSeries)
	for i, s := range all {
		slices.SortFunc(s.Runs, compareRuns)
		if i > 0 && all[i-1].Method == s.Method {
			s.Rank = all[i-1].Rank + 1
		}
	}
	return slices.DeleteFunc(all, func(s *Series) bool { return len(s.Runs) == 0 })
}

// addCells adds the cells that a run of the series feeds.
func (s *Series) addCells(cells []string) {
	for _, c := range cells {
		if !slices.Contains(s.Cells, c) {
			s.Cells = append(s.Cells, c)
		}
	}
}

// compareRuns orders runs by draw and seed.
func compareRuns(a, b *record.Record) int {
	return cmp.Or(
		cmp.Compare(a.Header.Run.Data.Draw, b.Header.Run.Data.Draw),
		cmp.Compare(a.Header.Run.Seed, b.Header.Run.Seed),
		cmp.Compare(a.Header.ID, b.Header.ID))
}

// compareSeries orders series by method, POLK first, then from the largest
// model order down: a larger budget, or a smaller parsimony constant.
func compareSeries(a, b *Series) int {
	return cmp.Or(
		compareMethods(a.Method, b.Method),
		cmp.Compare(b.params.Budget, a.params.Budget),
		cmp.Compare(a.params.Parsimony, b.params.Parsimony),
		cmp.Compare(a.Label, b.Label))
}

// compareMethods puts POLK before the others.
func compareMethods(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "polk":
		return -1
	case b == "polk":
		return 1
	}
	return cmp.Compare(a, b)
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
	risk := quantity{"risk", "test risk R(f_t)", true,
		func(p record.Point) float64 { return p.TestRisk },
		func(c experiments.PaperCell) *float64 { return c.Risk }}
	if c.data.Risk == "train" {
		risk.label, risk.of = "training risk R(f_t)", func(p record.Point) float64 { return p.TrainRisk }
	}
	return []quantity{risk,
		{"error", "test error rate (%)", true,
			func(p record.Point) float64 { return 100 * p.TestError },
			func(c experiments.PaperCell) *float64 { return c.Error }},
		{"order", "model order M_t", false,
			func(p record.Point) float64 { return float64(p.ModelOrder) },
			func(c experiments.PaperCell) *float64 { return c.Order }},
	}
}

// drawing lays the figure out.
func (c *curves) drawing() drawing { return c.picture() }

// picture lays the figure out.
func (c *curves) picture() *picture {
	p := &picture{}
	levels, marks, bands := false, false, false
	for i, q := range c.quantities() {
		pn := c.panel(q)
		pn.tag = fmt.Sprintf("(%c)", 'a'+i)
		for _, t := range pn.traces {
			levels = levels || len(t.levels) > 0
			bands = bands || spread(t.curve)
		}
		marks = marks || len(pn.marks) > 0
		p.panels = append(p.panels, pn)
	}
	for _, s := range c.series {
		p.legend = append(p.legend, lineEntry(plainLetters(s.Label), lookOf(s.Method, s.Rank)))
	}
	if bands {
		p.legend = append(p.legend, bandEntry("range over runs"))
	}
	if levels {
		p.legend = append(p.legend, levelEntry("final value printed in the paper"))
	}
	if marks {
		p.legend = append(p.legend, markEntry("stated in the paper's text"))
	}
	return p
}

// panel makes the panel of a quantity.
func (c *curves) panel(q quantity) panel {
	pn := panel{ylabel: q.label, log: q.log, xmax: 1}
	var level []int // the traces of batch methods
	for _, s := range c.series {
		if !s.shows(q) {
			continue
		}
		t := trace{look: lookOf(s.Method, s.Rank), curve: average(s.Runs, q.of)}
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
		pn.traces[i].curve = across(pn.traces[i].curve, pn.xmax)
	}
	pn.marks = c.marks(q, pn.xmax)
	return pn
}

// batch reports whether the series is of a method that sees all data at once:
// it has one value, which is drawn across the panel.
func (s *Series) batch() bool { return s.Runs[0].Header.Run.Batch() }

// shows reports whether a quantity of the series is drawn: not the model order
// of a batch method, which may be all of the training set, nor a risk that its
// method does not have.
func (s *Series) shows(q quantity) bool {
	if q.name == experiments.QuantityOrder {
		return !s.batch()
	}
	return q.name != experiments.QuantityRisk || s.Runs[0].Header.Run.HasRisk()
}

// across is the last value of a curve as one from 0 to xmax.
func across(curve []sample, xmax float64) []sample {
	left := curve[len(curve)-1]
	right := left
	left.x, right.x = 0, xmax
	return []sample{left, right}
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
		if v := q.cell(cell); v != nil && !slices.Contains(out, *v) {
			out = append(out, *v)
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
		m.low, m.high = deref(st.Low, st.High), deref(st.High, st.Low)
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
			return lookOf(s.Method, s.Rank)
		}
	}
	return look{color: rgb(0, 0, 0)}
}

// deref returns the value of the first pointer that is not nil.
func deref(ps ...*float64) float64 {
	for _, p := range ps {
		if p != nil {
			return *p
		}
	}
	return math.NaN()
}

// average is the mean and range, over runs, of a quantity at every number of
// samples, from 0 on, at which a run was evaluated. Values that are not finite are left
// out; where there are no others the mean is not a number.
func average(runs []*record.Record, of func(record.Point) float64) []sample {
	at := finiteAt(runs, of)
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
	risk := "test"
	if c.data.Risk == "train" {
		risk = "training"
	}
	fmt.Fprintf(&b, "(a) %s risk, (b) error rate on the test set, (c) model order, against the number of training samples processed. ", risk)
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
					strconv.Itoa(p.Samples), exact(p.TrainRisk), exact(p.TestRisk), exact(100 * p.TestError), strconv.Itoa(p.ModelOrder)})
			}
		}
	}
	return rows
}
