package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"polkrepro/compare"
	"polkrepro/experiments"
	"polkrepro/record"
	"polkrepro/report/plot"
)

// MethodsTable begins the names of the tables of verdicts on a user's specs.
const MethodsTable = "methods"

// own makes the report about the user's own specs: their results, curves and runs. Nothing in it
// is about the paper.
func own(in Input) *Report {
	b := newBuilder(in)
	r := &Report{Input: in}
	r.Tables = []*Table{b.results("results", "Test risk, error and model order", allRuns)}
	_, specs := grouped(in.Planned, func(p experiments.Planned) string { return p.Spec })
	for _, plan := range specs {
		res := compare.NewMethods(plan, in.Records)
		if res == nil {
			continue
		}
		for _, f := range res.Fields {
			r.Tables = append(r.Tables, verdictTable(f, res.Reference, "method"))
		}
	}
	streams := b.streams(allRuns, func(i int) string { return strconv.Itoa(i + 1) })
	for _, f := range streams {
		if f.Missing == "" {
			f.smaller(errorOf(f.Series[0].Run.Task).test, f.Series, func(p record.Point) float64 { return 100 * p.TestError })
		}
	}
	r.Figures = append(b.tradeoffs(), streams...)
	if figures := b.onlineOfOwn(); len(figures) > 0 {
		r.Parts = []*Part{onlinePart(figures)}
	}
	r.Runs = b.runs()
	numbers := b.numericRuns()
	r.Runs.Numbers, r.Tables[0].Numbers = numbers, numbers
	r.Notes = b.notes()
	return r
}

// variant returns the first sort key of a method's series in a report about the user's own specs:
// the label of the spec's entry, or an empty string if that is the name of the method. The method
// itself thus comes before its variants, such as another pruner.
func (b *builder) variant(s *Series) string {
	if label := s.planned[0].Label; b.in.Own != "" && label != s.Run.Method {
		return label
	}
	return ""
}

// onlineOfOwn makes the figures of prequential error and regret of the user's own specs, one for
// each data set and task.
func (b *builder) onlineOfOwn() (out []*Figure) {
	for _, all := range byTask(b.series(allRuns)) {
		run := all[0].Run
		fits := func(p experiments.Planned) bool {
			return p.Run.Data.Name == run.Data.Name && p.Run.Data.Variant == run.Data.Variant && p.Run.Task == run.Task
		}
		if f, series := b.onlineFigure(all[0].dataName(), run.Task, fits); f != nil {
			f.Name = "online" + strconv.Itoa(len(out)+1)
			f.smaller(errorOf(run.Task).prequential, series, prequentialError)
			out = append(out, f)
		}
	}
	return out
}

// numericRuns returns the series of the user's own runs as lines of a CSV file. A cell holds one
// number, or nothing if there is none. The columns low and high are the mean's 90 % interval.
func (b *builder) numericRuns() [][]string {
	rows := [][]string{strings.Fields("data task series runs planned failed " +
		"test_risk test_risk_sd test_risk_low test_risk_high error_percent error_percent_sd error_percent_low error_percent_high " +
		"model_order model_order_sd model_order_low model_order_high cpu_seconds cpu_seconds_sd cpu_seconds_low cpu_seconds_high " +
		"samples kernel_evaluations numbers_kept")}
	for _, s := range b.series(allRuns) {
		row := line(s.dataName(), s.Run.Task, s.Label, len(s.Runs), len(s.planned), b.failed(s.planned))
		final := finalStats(s.Runs, experiments.RiskTest)
		for _, v := range append(final[:], statOf(s.values(secondsInAll))) {
			row = slices.Concat(row, known(v.N > v.Diverged, v.Mean, v.SD), known(v.Interval, v.Low, v.High))
		}
		costs := known(len(s.Runs) > 0, mean(s.values(samples)), mean(s.values(evaluations)))
		rows = append(rows, slices.Concat(row, costs, line(s.numbers())))
	}
	return rows
}

// A costCurve is the error of a method, or heuristic, at several costs.
type costCurve struct {
	name, remark string
	points       []costPoint
}

// A costPoint is a mean final error in per cent with its standard deviation, at a mean
// model order and a mean processor time.
type costPoint struct{ order, seconds, err, sd float64 }

// A cost is the quantity on the x axis of a figure of errors. Points are joined only if it is the
// model order, because a larger order does not always take more time.
type cost struct {
	label string
	apart bool
	of    func(costPoint) float64
}

var (
	byOrder = cost{"model order", false, func(p costPoint) float64 { return p.order }}
	byTime  = cost{"CPU (s)", true, func(p costPoint) float64 { return p.seconds }}
)

// trace returns the curve with its points sorted by cost.
func (c costCurve) trace(look plot.Look, by cost, dots bool) plot.Trace {
	t := plot.Trace{Look: look, Deviation: true, Dots: dots, Apart: by.apart}
	for _, p := range slices.SortedStableFunc(slices.Values(c.points), func(a, b costPoint) int { return cmp.Compare(by.of(a), by.of(b)) }) {
		t.Curve = append(t.Curve, plot.Sample{X: by.of(p), Mean: p.err, Low: p.err - p.sd, High: p.err + p.sd})
	}
	return t
}

// Widths of the lines in small multiples: of the reference, which is in every panel, and of the
// panel's own method.
const (
	referenceWidth = 0.9
	ownWidth       = 1.1
)

// costPicture draws error against cost, with a panel for each of the others. The reference is in
// every panel, with dots at its points if dots is true.
func costPicture(task string, reference costCurve, others []costCurve, looks map[string]plot.Look, by cost, dots bool) *plot.Picture {
	look := looks[reference.name].Of(referenceWidth)
	var panels []*plot.Panel
	for _, c := range others {
		pn := &plot.Panel{Title: c.name, Remark: c.remark, XLabel: by.label, Traces: []plot.Trace{reference.trace(look, by, dots)}}
		if c.name != reference.name {
			pn.Traces = append(pn.Traces, c.trace(looks[c.name].Of(ownWidth), by, true))
		}
		panels = append(panels, pn)
	}
	p := plot.Small(errorOf(task).test, true, panels)
	p.Legend = plot.Legend{plot.LineEntry(reference.name, look)}
	if dots {
		p.Legend[0] = plot.IconEntry(reference.name, look.Mark)
	}
	return p
}

// deviated is the mean of the values at each x with their standard deviation.
func deviated(at map[int][]float64) (out []plot.Sample) {
	for _, x := range slices.Sorted(maps.Keys(at)) {
		if m, sd := mean(at[x]), deviation(at[x]); len(at[x]) > 0 {
			out = append(out, plot.Sample{X: float64(x), Mean: m, Low: m - sd, High: m + sd})
		}
	}
	return out
}

// tradeoffs makes two figures for each data set and task with two series or more: a method's
// error against its model order, and against its time.
func (b *builder) tradeoffs() []*Figure {
	var out []*Figure
	for _, group := range byTask(slices.DeleteFunc(b.series(allRuns), func(s *Series) bool { return len(s.Runs) == 0 })) {
		if len(group) == 1 {
			continue
		}
		data, task := group[0].dataName(), group[0].Run.Task
		name := "tradeoff" + strconv.Itoa(len(out)/2+1)
		entries := entriesOf(group)
		looks := entryLooks(entries)
		var curves []costCurve
		for _, e := range entries {
			curves = append(curves, e.costs())
		}
		others := curves[min(1, len(curves)-1):]
		end := fmt.Sprintf(" a panel for each method: means over runs, bars are their standard deviation. In each panel %s is blue.", entries[0].name)
		rows := func() [][]string { return costRows(entries) }
		out = append(out,
			&Figure{Name: name, Title: fmt.Sprintf("Error and model order. %s on %s", taskTitle(task), data), Data: rows,
				Caption: "Final error on the test set against the final model order," + end,
				Drawing: costPicture(task, curves[0], others, looks, byOrder, true)},
			&Figure{Name: name + "-time", Title: fmt.Sprintf("Error and time. %s on %s", taskTitle(task), data), Data: rows,
				Caption: "Final error on the test set against processor seconds of training, evaluations excluded," + end + " Times are of the machines that made the records.",
				Drawing: costPicture(task, curves[0], others, looks, byTime, true)})
	}
	return out
}

func orderAtEnd(r *record.Record) float64   { return r.Final.ModelOrder }
func secondsInAll(r *record.Record) float64 { return r.Final.Timing.CPU }
func errorAtEnd(r *record.Record) float64   { return 100 * r.Final.TestError }

// costs returns the mean costs and errors of the entry's series.
func (e specEntry) costs() costCurve {
	c := costCurve{name: e.name}
	for _, s := range e.series {
		err := s.values(errorAtEnd)
		c.points = append(c.points, costPoint{mean(s.values(orderAtEnd)), mean(s.values(secondsInAll)), mean(err), deviation(err)})
	}
	return c
}

// costRows are the runs.
func costRows(entries []specEntry) [][]string {
	rows := [][]string{{"method", "series", "seed", "draw", "model_order", "cpu_seconds", "error_percent"}}
	for _, e := range entries {
		for s, r := range runsOf(e.series) {
			rows = append(rows, append([]string{e.name}, s.line(r, orderAtEnd(r), secondsInAll(r), errorAtEnd(r))...))
		}
	}
	return rows
}
