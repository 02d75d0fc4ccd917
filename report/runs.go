package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/record"
)

// runs makes the table of what the runs cost, a row a series.
func (b *builder) runs() *Table {
	t := &Table{
		Name:   "runs",
		Title:  "The runs and their cost",
		Header: []string{"data", "task", "series", "runs", "failed", "samples", "test risk", "test error (%)", "model order", "wall (s)", "CPU (s)", "CPU, all runs (s)", "kernel evaluations"},
		Notes: []string{
			"Per run: mean ± standard deviation. Times are of the training alone, evaluations excluded; CPU seconds are those of the training threads.",
		},
	}
	for _, s := range b.series(allRuns) {
		t.Rows = append(t.Rows, b.costRow(s))
	}
	return t
}

// costRow sums a series up.
func (b *builder) costRow(s *Series) []string {
	row := append(s.rowHead(), strconv.Itoa(b.failed(s.planned)))
	if len(s.Runs) == 0 {
		return append(row, "", "", "", "", "", "", "", "")
	}
	samples := mean(s.values(func(r *record.Record) float64 { return float64(r.Final.Samples) }))
	kernels := mean(s.values(func(r *record.Record) float64 { return float64(r.Final.KernelEvals) }))
	cpu := s.values(func(r *record.Record) float64 { return r.Final.Timing.CPU })
	total := 0.0
	for _, v := range cpu {
		total += v
	}
	row = append(row, strconv.FormatFloat(samples, 'f', 0, 64))
	for q, final := range finalStats(s.Runs, experiments.RiskTest) {
		row = append(row, cmp.Or(final.text(q), whyDash))
	}
	return append(row, seconds(statOf(s.values(wall))), seconds(statOf(cpu)), strconv.FormatFloat(total, 'f', 1, 64), strconv.FormatFloat(kernels, 'e', 2, 64))
}

// rowHead is the first cells of a row: data set, task, series and its runs.
func (s *Series) rowHead() []string {
	return []string{s.dataName(), s.Run.Task, s.Label, fmt.Sprintf("%d of %d", len(s.Runs), len(s.planned))}
}

// results makes a table of the planned runs that fit, a row a series.
func (b *builder) results(name, title string, fits func(experiments.Planned) bool) *Table {
	_, caption, numbered := strings.Cut(title, ". ")
	if !numbered {
		caption = title
	}
	t := &Table{
		Name:    name,
		Title:   title,
		Caption: caption + ".",
		Header:  []string{"data", "task", "series", "runs", "test risk", "error (%)", "model order", "training (s)", "numbers kept"},
		Notes: []string{
			"Mean ± standard deviation over runs, those of learners of a stream averaged over the last 5 % of the processed samples; in brackets the 90 % interval of the mean, Student's.",
			"Numbers kept: what a learner of a stream keeps from one sample to the next at its mean model order, dictionary, weights and, where the method needs one, the inverse kernel matrix or a projection.",
		},
	}
	time := wall
	if b.in.Own != "" {
		time, t.Header[7] = secondsInAll, "CPU (s)"
		t.Notes = append(t.Notes, "CPU: processor time of training, evaluations excluded.")
	}
	for _, s := range b.series(fits) {
		row := s.rowHead()
		if len(s.Runs) == 0 {
			t.Rows = append(t.Rows, slices.Concat(row, make([]string, len(t.Header)-len(row))))
			continue
		}
		for q, final := range finalStats(s.Runs, experiments.RiskTest) {
			row = append(row, cmp.Or(final.full(q), whyDash))
		}
		t.Rows = append(t.Rows, append(row, seconds(statOf(s.values(time))), cmp.Or(s.numbers(), whyDash)))
	}
	return t
}

// processorTime writes that of a series' training, a dash of no runs.
func processorTime(s *Series) string {
	if len(s.Runs) == 0 {
		return whyDash
	}
	return seconds(statOf(s.values(secondsInAll)))
}

// seconds writes a time.
func seconds(s Stat) string {
	if s.N < 2 {
		return strconv.FormatFloat(s.Mean, 'f', 2, 64)
	}
	return fmt.Sprintf("%.2f ± %.2f", s.Mean, s.SD)
}

// numericRuns are the series of the user's own runs with a number a cell, and none where
// there is none. Low and high are of the 90 % interval of the mean.
func (b *builder) numericRuns() [][]string {
	header := []string{"data", "task", "series", "runs", "planned", "failed"}
	for _, name := range []string{"test_risk", "error_percent", "model_order", "cpu_seconds"} {
		header = append(header, name, name+"_sd", name+"_low", name+"_high")
	}
	rows := [][]string{append(header, "samples", "kernel_evaluations", "numbers_kept")}
	for _, s := range b.series(allRuns) {
		row := []string{s.dataName(), s.Run.Task, s.Label, strconv.Itoa(len(s.Runs)), strconv.Itoa(len(s.planned)), strconv.Itoa(b.failed(s.planned))}
		if len(s.Runs) == 0 {
			rows = append(rows, append(row, make([]string, len(rows[0])-len(row))...))
			continue
		}
		final := finalStats(s.Runs, experiments.RiskTest)
		for _, v := range append(final[:], statOf(s.values(secondsInAll))) {
			cells := make([]string, 4)
			if v.N > v.Diverged {
				cells[0], cells[1] = words.Exact(v.Mean), words.Exact(v.SD)
			}
			if v.Interval {
				cells[2], cells[3] = words.Exact(v.Low), words.Exact(v.High)
			}
			row = append(row, cells...)
		}
		samples := mean(s.values(func(r *record.Record) float64 { return float64(r.Final.Samples) }))
		kernels := mean(s.values(func(r *record.Record) float64 { return float64(r.Final.KernelEvals) }))
		rows = append(rows, append(row, words.Exact(samples), words.Exact(kernels), s.numbers()))
	}
	return rows
}
