package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"polkrepro/compare"
	"polkrepro/internal/words"
	"polkrepro/paper"
	"polkrepro/record"
	"polkrepro/spec"
)

// MethodsTable begins the names of the tables of verdicts on a user's specs.
const MethodsTable = "methods"

// own makes the report about the user's own specs: their results, curves and runs. Nothing in it
// is about the paper.
func own(in Input) *Report {
	b := newBuilder(in)
	r := &Report{Input: in}
	r.Tables = []*Table{b.results("results", "Test risk, error and model order", allRuns)}
	b.methods(r)
	r.Figures = append(r.Figures, b.tradeoffs()...)
	r.Figures = append(r.Figures, b.streams(allRuns, func(i int) string { return strconv.Itoa(i + 1) })...)
	var online []*Figure // one for each data set and task
	for _, all := range byTask(b.series(allRuns)) {
		if f := b.onlineFigure("online"+strconv.Itoa(len(online)+1), all[0].dataName(), all); f != nil {
			online = append(online, f)
		}
	}
	r.Parts = shown(onlinePart(online))
	r.Runs = b.runs()
	numbers := b.numericRuns()
	r.Runs.Numbers, r.Tables[0].Numbers = numbers, numbers
	r.Notes = b.notes()
	for _, f := range r.allFigures() {
		f.Name = in.fileName() + "-" + f.Name
	}
	for _, t := range append(slices.Clip(r.Tables), r.Runs) {
		t.Label = in.fileName() + "-" + t.Name
	}
	return r
}

// methods adds the verdicts on the methods of each spec and, for each task of which several data sets
// have them, the ranks over the data sets.
func (b *builder) methods(r *Report) {
	names, specs := grouped(b.in.Planned, func(p spec.Planned) string { return p.Spec })
	var results []*compare.Result
	for i, plan := range specs {
		res := compare.NewMethods(plan, b.in.Records)
		if res == nil {
			continue
		}
		results = append(results, res)
		for _, f := range res.DataSets {
			t := verdictTable(f, res.Reference, "method")
			if len(specs) > 1 {
				t.Name += "-" + names[i]
			}
			r.Tables = append(r.Tables, t)
		}
	}
	tasks, groups := grouped(results, func(res *compare.Result) string { return res.DataSets[0].Task })
	for i, group := range groups {
		if s := compare.RankMethods(group); s != nil {
			r.Standings = append(r.Standings, s)
			r.Tables = append(r.Tables, rankTable(MethodsTable+"-ranks-"+tasks[i], s, group[0].Reference))
			r.Figures = append(r.Figures, rankFigure("ranks-"+tasks[i], s, group[0].Reference, "method"))
		}
	}
}

// rankTable holds the mean ranks of methods over data sets.
func rankTable(name string, s *compare.Standing, reference string) *Table {
	t := &Table{
		Name: name, Title: fmt.Sprintf("%s: mean ranks over %s", taskTitle(s.Task), words.Count(s.Blocks, "data set")),
		Header: []string{"method", "mean rank"}, Notes: []string{s.Sentence(reference)},
	}
	for _, rank := range s.Ranks {
		t.Rows = append(t.Rows, []string{rank.Name, fmt.Sprintf("%.2f", rank.Mean)})
	}
	return t
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

// numericRuns returns the series of the user's own runs as lines of a CSV file. A cell holds one
// number, or nothing if there is none. The columns low and high are the mean's 90 % interval.
func (b *builder) numericRuns() [][]string {
	rows := [][]string{strings.Fields("data task series runs planned failed " +
		"test_risk test_risk_sd test_risk_low test_risk_high error_percent error_percent_sd error_percent_low error_percent_high " +
		"model_order model_order_sd model_order_low model_order_high cpu_seconds cpu_seconds_sd cpu_seconds_low cpu_seconds_high " +
		"samples kernel_evaluations numbers_kept")}
	for _, s := range b.series(allRuns) {
		row := line(s.dataName(), s.Run.Task, s.Label, len(s.Runs), len(s.planned), b.failed(s.planned))
		final := finalStats(s.Runs, paper.RiskTest)
		for _, v := range append(final[:], statOf(s.values(secondsInAll))) {
			row = append(row, line(v.Mean, v.SD, v.Low, v.High)...)
		}
		rows = append(rows, append(row, line(words.Nullable(mean(s.values(samples))), words.Nullable(mean(s.values(evaluations))), s.numbers())...))
	}
	return rows
}

// tradeoffs makes two figures for each data set and task with two series or more: a method's
// error against its model order, and against its time. The first method of the spec is in every
// panel.
func (b *builder) tradeoffs() []*Figure {
	var out []*Figure
	for _, group := range byTask(slices.DeleteFunc(b.series(allRuns), func(s *Series) bool { return len(s.Runs) == 0 })) {
		if len(group) == 1 {
			continue
		}
		var curves []costCurve
		var names []string
		_, entries := grouped(group, func(s *Series) string { return s.planned[0].Spec + "\x00" + s.planned[0].Label })
		for _, of := range entries {
			c := costCurve{name: compare.MethodName(of[0].planned[0])}
			for _, s := range of {
				wrong := s.values(func(r *record.Record) float64 { return 100 * r.Final.TestError })
				order := s.values(func(r *record.Record) float64 { return r.Final.ModelOrder })
				c.points = append(c.points, costPoint{mean(order), mean(s.values(secondsInAll)), mean(wrong), deviation(wrong)})
			}
			curves, names = append(curves, c), append(names, c.name)
		}
		run := group[0].Run
		out = append(out, costFigures(costStudy{
			name: "tradeoff" + strconv.Itoa(len(out)/2+1), title: fmt.Sprintf("%s on %s", taskTitle(run.Task), group[0].dataName()), task: run.Task,
			reference: curves[0], others: curves[min(1, len(curves)-1):], looks: badges(names, names[0]),
		})...)
	}
	return out
}
