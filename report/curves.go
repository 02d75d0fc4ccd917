package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"polkrepro/evidence"
	"polkrepro/internal/words"
	"polkrepro/paper"
	"polkrepro/record"
	"polkrepro/report/plot"
	"polkrepro/spec"
)

// streams makes the figures of curves of the planned runs that fit and learn from a stream, one
// for each data set and task. number returns the number of figure i.
func (b *builder) streams(fits func(spec.Planned) bool, number func(i int) string) []*Figure {
	var out []*Figure
	for i, all := range byTask(slices.DeleteFunc(b.series(fits), (*Series).batch)) {
		run := all[0].Run
		name := number(i)
		f := &Figure{Name: "figure" + name, Title: fmt.Sprintf("Figure %s. %s on %s", name, taskTitle(run.Task), all[0].dataName())}
		b.curves(f, paper.Figure{Data: run.Data.Name, Task: run.Task}, all)
		out = append(out, f)
	}
	return out
}

// errorNames holds the names of a task's error: on axes, for the test set and prequential, and in
// captions.
type errorNames struct{ test, prequential, caption string }

// errorOf names the error of a task.
func errorOf(task string) errorNames {
	if task == spec.TaskRegression {
		return errorNames{"test RMSE (% of deviation)", "prequential RMSE (% of deviation)", "root-mean-square error"}
	}
	return errorNames{"test error rate (%)", "prequential error (%)", "error rate"}
}

// taskTitle returns the paper's name of a task, or the task itself if the paper has none.
func taskTitle(task string) string {
	return cmp.Or(map[string]string{spec.TaskKLR: "Multi-Logistic", spec.TaskKSVM: "Multi-KSVM"}[task], task)
}

// curves are the contents of a figure of the paper's three quantities over the samples processed.
type curves struct {
	series []*Series
	risk   string // the risk that the paper prints, train or test
	paper  paper.Figure
	cells  map[string]paper.Cell
}

// curves fills a figure with the curves of series. A series without records keeps its rank, so
// that the other series look as they do in a complete figure. Records without evaluations are
// valid, but have no curve.
func (b *builder) curves(f *Figure, pf paper.Figure, all []*Series) {
	var planned []spec.Planned
	for _, s := range all {
		planned = append(planned, s.planned...)
	}
	records, drawn := len(b.records(planned)), 0
	if records == 0 {
		f.Missing = b.absent(planned, pf.Data)
		return
	}
	f.Series = ranked(all, func(*record.Record) bool { return true })
	if len(f.Series) == 0 {
		f.Missing = "the records have no evaluations"
		return
	}
	for range runsOf(f.Series) {
		drawn++
	}
	b.distinct(f.Series)
	c := &curves{series: f.Series, risk: b.paper.Data[pf.Data].Risk, paper: pf, cells: b.paper.Cells}
	picture := c.picture()
	f.Drawing, f.Caption = picture, c.caption(evidence.Lost(len(planned), b.gaps(planned)))+undrawn(picture)
	f.Alt = f.Title + ": curves of risk, error and model order over the samples processed. Tables 2 and 3 have the final values."
	if drawn < records {
		f.Caption += fmt.Sprintf(" %d runs whose records have no evaluations are not drawn.", records-drawn)
	}
}

// A quantity is the variable that a panel shows.
type quantity struct {
	label string
	log   bool
	of    func(record.Point) float64
}

// quantitiesOf returns the three quantities of every figure. The first one is the training or the
// test risk, depending on the data set.
func quantitiesOf(risk, task string) [quantityCount]quantity {
	of := func(p record.Point) float64 { return p.TestRisk }
	if risk == paper.RiskTrain {
		of = func(p record.Point) float64 { return p.TrainRisk }
	}
	return [quantityCount]quantity{
		{riskName(risk) + " R(f_t)", true, of},
		{errorOf(task).test, true, testError},
		{"model order M_t", false, func(p record.Point) float64 { return float64(p.ModelOrder) }},
	}
}

// testError and prequentialError return the errors at a point in per cent; the latter is NaN if it
// was not measured.
func testError(p record.Point) float64 { return 100 * p.TestError }

func prequentialError(p record.Point) float64 {
	if p.Prequential == nil {
		return math.NaN()
	}
	return 100 * p.Prequential.Error
}

// picture lays the figure out.
func (c *curves) picture() *plot.Picture {
	p := &plot.Picture{Legend: legendOf(c.series)}
	for q, shows := range quantitiesOf(c.risk, c.paper.Task) {
		p.Panels = append(p.Panels, c.panel(q, shows))
	}
	if c.risk == paper.RiskTrain {
		p.Panels[qRisk].Title += " on training data"
	}
	p.Explain("final value printed in the paper", "stated in the paper's text")
	return p
}

// panel makes the panel of a quantity.
func (c *curves) panel(q int, shows quantity) *plot.Panel {
	pn := &plot.Panel{Title: fmt.Sprintf("(%c)", 'a'+q), YLabel: shows.label, LogY: shows.log, XMax: 1}
	shown := slices.DeleteFunc(slices.Clone(c.series), func(s *Series) bool { return !s.shows(q) })
	pn.Traces = traces(shown, func(s *Series) []plot.Sample { return average(s.Runs, shows.of) })
	for i, t := range pn.Traces {
		if !t.Flat {
			pn.Traces[i].Levels = c.levels(shown[i], q)
		}
		for _, v := range t.Curve {
			pn.XMax = math.Max(pn.XMax, v.X)
		}
	}
	for i, t := range pn.Traces {
		if t.Flat { // from edge to edge
			left := t.Curve[len(t.Curve)-1]
			right := left
			left.X, right.X = 0, pn.XMax
			pn.Traces[i].Curve = []plot.Sample{left, right}
		}
	}
	pn.Marks = c.marks(q, pn.XMax)
	return pn
}

// batch reports whether the method of the series sees all data at once. Such a series has one
// value, which is drawn across the panel.
func (s *Series) batch() bool { return s.Run.Batch() }

// shows reports whether a quantity of the series is drawn. The model order of a batch method is
// not, because it may be the size of the training set, and neither is the risk of a method that
// has none.
func (s *Series) shows(q int) bool {
	if q == qOrder {
		return !s.batch()
	}
	return q != qRisk || s.Run.HasRisk()
}

// levels returns the values that the paper prints for a series, without duplicates.
func (c *curves) levels(s *Series, q int) []float64 {
	var out []float64
	for _, id := range s.Cells {
		cell := c.cells[id]
		if v := numbersOf(cell)[q]; v != nil && cell.Data == c.paper.Data && cell.Task == c.paper.Task {
			out = appendNew(out, *v)
		}
	}
	return out
}

// marks returns the values of a quantity that the paper's text states for the figure. Values at
// the last sample are drawn a little before the right edge.
func (c *curves) marks(q int, xmax float64) []plot.Mark {
	var out []plot.Mark
	for _, st := range c.paper.Stated {
		if st.Quantity != Quantities[q] || st.Low == nil && st.High == nil {
			continue
		}
		m := plot.Mark{X: float64(st.Samples), Look: plot.Look{Color: plot.RGB(0, 0, 0)}}
		if st.Samples == 0 {
			m.X = 0.97 * xmax
		}
		if i := slices.IndexFunc(c.series, func(s *Series) bool { return slices.Contains(s.Cells, st.Cell) }); i >= 0 {
			m.Look = c.series[i].look()
		}
		m.Low, m.High = *cmp.Or(st.Low, st.High), *cmp.Or(st.High, st.Low)
		printed := slices.ContainsFunc(c.series, func(s *Series) bool { return slices.Contains(c.levels(s, q), m.High) })
		if !printed || m.Low < m.High || st.Samples > 0 {
			out = append(out, m)
		}
	}
	return out
}

// average returns the mean and range over runs of a quantity, at every number of samples from 0
// on at which a run was evaluated. They are not finite where a value is not.
func average(runs []*record.Record, of func(record.Point) float64) []plot.Sample {
	at := map[int][]float64{}
	for _, r := range runs {
		for _, p := range r.Points {
			if p.Samples >= 0 {
				at[p.Samples] = append(at[p.Samples], of(p))
			}
		}
	}
	return averaged(at)
}

// averaged is the mean and range of the values at every x.
func averaged[X int | float64](at map[X][]float64) []plot.Sample {
	curve := make([]plot.Sample, 0, len(at))
	for _, x := range slices.Sorted(maps.Keys(at)) {
		curve = append(curve, plot.Sample{X: float64(x), Mean: mean(at[x]), Low: slices.Min(at[x]), High: slices.Max(at[x])})
	}
	return curve
}

// undrawn says how many points of a picture's curves have no place in it, if there are some.
func undrawn(p *plot.Picture) string {
	n := 0
	for _, pn := range p.Panels {
		for _, t := range pn.Traces {
			for _, s := range t.Curve {
				if !pn.Drawable(s.Mean) {
					n++
				}
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" Not drawn: %s of curves that are not finite, or not positive on a logarithmic axis.", words.Count(n, "point"))
}

// How captions explain lines and bands.
const (
	bandsReach = "bands reach from the least to the greatest"
	linesAre   = "Lines are means over runs, " + bandsReach
)

// caption says what the picture shows and what it leaves out.
func (c *curves) caption(lost string) string {
	var counts []string
	for _, s := range c.series {
		counts = append(counts, fmt.Sprintf("%s: %d", s.Label, len(s.Runs)))
	}
	text := fmt.Sprintf("(a) %s, (b) %s on the test set, (c) model order, against the number of training samples processed. Lines are means over runs (%s); %s.",
		riskName(c.risk), errorOf(c.paper.Task).caption, strings.Join(counts, "; "), bandsReach)
	if slices.ContainsFunc(c.series, (*Series).batch) {
		text += " Lines from edge to edge: batch methods, which see all training samples at once."
	}
	if c.paper.ID != "" { // the paper has such a figure
		text += " Dotted lines and the wedges at the right edge: the paper's tables; diamonds: the paper's text."
	}
	if lost != "" {
		text += " " + lost
	}
	return text
}
