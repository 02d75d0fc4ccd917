package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"polkrepro/experiments"
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

// results makes a table of the planned runs that fit, a row a series, with the time that
// training took.
func (b *builder) results(name, title string, fits func(experiments.Planned) bool, heading string, time func(*record.Record) float64) *Table {
	_, caption, numbered := strings.Cut(title, ". ")
	if !numbered {
		caption = title
	}
	t := &Table{
		Name:    name,
		Title:   title,
		Caption: caption + ".",
		Header:  []string{"data", "task", "series", "runs", "test risk", "error (%)", "model order", heading, "numbers kept"},
		Notes: []string{
			"Mean ± standard deviation over runs, those of learners of a stream averaged over the last 5 % of the processed samples; in brackets the 90 % interval of the mean, Student's.",
			"Numbers kept: what a learner of a stream keeps from one sample to the next at its mean model order, dictionary, weights and, where the method needs one, the inverse kernel matrix or a projection.",
		},
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
