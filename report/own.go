package report

import (
	"strconv"

	"polkrepro/compare"
	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/record"
)

// MethodsTable is the name of the table of verdicts on a user's specs.
const MethodsTable = "methods"

// own makes the report of specs that are not of this project: their results,
// curves and runs. Nothing in it is about the paper.
func own(in Input, paper *experiments.PaperValues) *Report {
	b := newBuilder(in, paper)
	r := &Report{Input: in, Paper: paper}
	results := b.results("results", "Test risk, error and model order", allRuns, "CPU (s)", secondsInAll)
	results.Notes = append(results.Notes, "CPU: processor time of training, evaluations excluded.")
	r.Tables = []*Table{results}
	for _, m := range compare.NewMethods(in.Planned, in.Records) {
		r.Tables = append(r.Tables, &Table{Name: MethodsTable, Title: "Methods compared, " + m.Spec, Header: m.Header(), Rows: m.Rows(), Notes: m.Notes()})
	}
	streams := b.streams(allRuns, func(i int) string { return strconv.Itoa(i + 1) })
	for _, f := range streams {
		if f.Missing == "" {
			f.smaller(errorName(f.Series[0].Run.Task), f.Series, func(p record.Point) float64 { return 100 * p.TestError })
		}
	}
	r.Figures = append(b.tradeoffs(), streams...)
	if figures := b.onlineOfOwn(); len(figures) > 0 {
		r.Parts = []*Part{onlinePart(figures)}
	}
	r.Runs = b.runs()
	numbers := b.numericRuns()
	r.Runs.Numbers, results.Numbers = numbers, numbers
	r.Notes = b.notes()
	return r
}

// variant is the label of the series' entry in its spec, empty if it is that of the method
// itself: it comes before its variants, such as another pruner.
func (s *Series) variant() string {
	if label := s.planned[0].Label; label != s.Run.Method {
		return label
	}
	return ""
}

// onlineOfOwn makes them for specs that are not of this project: one for each data set and
// task.
func (b *builder) onlineOfOwn() (out []*Figure) {
	for _, all := range byTask(b.series(allRuns)) {
		run := all[0].Run
		fits := func(p experiments.Planned) bool {
			return p.Run.Data.Name == run.Data.Name && p.Run.Data.Variant == run.Data.Variant && p.Run.Task == run.Task
		}
		if f, series := b.onlineFigure(all[0].dataName(), run.Task, fits, fits); f != nil {
			f.Name = "online" + strconv.Itoa(len(out)+1)
			f.smaller(prequentialName(run.Task), series, prequentialError)
			out = append(out, f)
		}
	}
	return out
}

// numericRuns are the series of the user's own runs with a number a cell, and none where
// there is none. Low and high are of the 90 % interval of the mean.
func (b *builder) numericRuns() [][]string {
	columns := columnsOf()
	columns[3].of = func(s *Series) string { return strconv.Itoa(len(s.Runs)) }
	columns = append(columns,
		column{"planned", func(s *Series) string { return strconv.Itoa(len(s.planned)) }, true},
		column{"failed", func(s *Series) string { return strconv.Itoa(b.failed(s.planned)) }, true})
	for q, name := range []string{"test_risk", "error_percent", "model_order", "cpu_seconds"} {
		stat := func(s *Series) Stat {
			if q == quantityCount {
				return statOf(s.values(secondsInAll))
			}
			return finalStats(s.Runs, experiments.RiskTest)[q]
		}
		number := func(suffix string, of func(Stat) float64, known func(Stat) bool) {
			columns = append(columns, column{heading: name + suffix, of: func(s *Series) string {
				if v := stat(s); known(v) {
					return words.Exact(of(v))
				}
				return ""
			}})
		}
		finite, interval := func(v Stat) bool { return v.N > v.Diverged }, func(v Stat) bool { return v.Interval }
		number("", func(v Stat) float64 { return v.Mean }, finite)
		number("_sd", func(v Stat) float64 { return v.SD }, finite)
		number("_low", func(v Stat) float64 { return v.Low }, interval)
		number("_high", func(v Stat) float64 { return v.High }, interval)
	}
	return tabulate(b.series(allRuns), append(columns,
		column{heading: "samples", of: func(s *Series) string { return words.Exact(mean(s.values(samples))) }},
		column{heading: "kernel_evaluations", of: func(s *Series) string { return words.Exact(mean(s.values(evaluations))) }},
		column{heading: "numbers_kept", of: (*Series).numbers}))
}
