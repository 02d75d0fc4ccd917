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

// A column of a table of series has a heading and a text for each series.
type column struct {
	heading string
	of      func(*Series) string
}

// tabulate returns a header and a row for each series. The columns on the plan come first, then
// those on the records, which are empty for a series without runs.
func tabulate(series []*Series, planned, recorded []column) [][]string {
	rows := make([][]string, 1+len(series))
	for k, c := range slices.Concat(planned, recorded) {
		rows[0] = append(rows[0], c.heading)
		for i, s := range series {
			text := ""
			if k < len(planned) || len(s.Runs) > 0 {
				text = c.of(s)
			}
			rows[i+1] = append(rows[i+1], text)
		}
	}
	return rows
}

// plannedColumns returns the first columns of a table of series: data set, task, label and number
// of runs.
func plannedColumns() []column {
	return []column{
		{"data", (*Series).dataName},
		{"task", func(s *Series) string { return s.Run.Task }},
		{"series", func(s *Series) string { return s.Label }},
		{"runs", (*Series).runCount},
	}
}

// distinctColumns returns plannedColumns without the data set or the task if all series share it,
// and the shared values.
func distinctColumns(series []*Series) (columns []column, same []string) {
	columns = slices.DeleteFunc(plannedColumns(), func(c column) bool {
		alike := len(series) > 0 && (c.heading == "data" || c.heading == "task") &&
			!slices.ContainsFunc(series, func(s *Series) bool { return c.of(s) != c.of(series[0]) })
		if alike {
			same = append(same, c.of(series[0]))
		}
		return alike
	})
	return columns, same
}

// runCount writes how many of the planned runs have a record.
func (s *Series) runCount() string { return fmt.Sprintf("%d of %d", len(s.Runs), len(s.planned)) }

// finalColumns returns the columns of the final test risk, error and model order, as text writes
// them.
func finalColumns(errorHeading string, text func(Stat, int) string) (out []column) {
	for q, heading := range []string{"test risk", errorHeading, "model order"} {
		out = append(out, column{heading, func(s *Series) string {
			return cmp.Or(text(finalStats(s.Runs, experiments.RiskTest)[q], q), words.Dash)
		}})
	}
	return out
}

// runs makes the table of the runs' cost, with a row for each series.
func (b *builder) runs() *Table {
	planned := append(plannedColumns(), column{"failed", func(s *Series) string { return strconv.Itoa(b.failed(s.planned)) }})
	processed := column{"samples", func(s *Series) string { return strconv.FormatFloat(mean(s.values(samples)), 'f', 0, 64) }}
	rows := tabulate(b.series(allRuns), planned, append(append([]column{processed}, finalColumns("test error (%)", Stat.text)...),
		column{"wall (s)", func(s *Series) string { return seconds(statOf(s.values(wall))) }},
		column{"CPU (s)", processorTime},
		column{"CPU, all runs (s)", func(s *Series) string {
			total := 0.0
			for _, v := range s.values(secondsInAll) {
				total += v
			}
			return strconv.FormatFloat(total, 'f', 1, 64)
		}},
		column{"kernel evaluations", func(s *Series) string { return strconv.FormatFloat(mean(s.values(evaluations)), 'e', 2, 64) }}))
	return &Table{
		Name: "runs", Title: "The runs and their cost", Header: rows[0], Rows: rows[1:],
		Notes: []string{
			"Per run: mean ± standard deviation. Times are of the training alone, evaluations excluded; CPU seconds are those of the training threads.",
		},
	}
}

// samples and evaluations return a run's number of samples processed and of kernel evaluations.
func samples(r *record.Record) float64     { return float64(r.Final.Samples) }
func evaluations(r *record.Record) float64 { return float64(r.Final.KernelEvals) }

// results makes a table of the results of the planned runs that fit, with a row for each series.
// The columns of more come last.
func (b *builder) results(name, title string, fits func(experiments.Planned) bool, more ...column) *Table {
	_, caption, numbered := strings.Cut(title, ". ")
	if !numbered {
		caption = title
	}
	series, planned := b.series(fits), plannedColumns()
	if distinct, same := distinctColumns(series); b.in.Own != "" && len(same) == 2 {
		planned = distinct
	}
	rows := tabulate(series, planned, slices.Concat(finalColumns("error (%)", Stat.full), []column{
		{"CPU (s)", processorTime},
		{"numbers kept", func(s *Series) string { return cmp.Or(s.numbers(), words.Dash) }},
	}, more))
	return &Table{
		Name: name, Title: title, Caption: caption + ".", Header: rows[0], Rows: rows[1:],
		Notes: []string{
			"Mean ± standard deviation over runs; online learners are averaged over the last 5 % of the processed samples. In brackets: Student's 90 % interval of the mean.",
			"Numbers kept: what an online learner stores between samples at its mean model order: dictionary, weights and, where the method needs one, the inverse kernel matrix or a projection.",
			"CPU: processor time of training, evaluations excluded.",
		},
	}
}

// columnsOfQuestions returns the extra columns of the table of open questions: the training risk,
// which the paper prints for some data sets, and the relative distance to the minimizer for runs
// that are measured against it. Other supplements have none.
func columnsOfQuestions(supplement string) []column {
	if supplement != experiments.OpenQuestions {
		return nil
	}
	return []column{
		{"training risk", func(s *Series) string {
			return cmp.Or(finalStats(s.Runs, experiments.RiskTrain)[qRisk].text(qRisk), words.Dash)
		}},
		{"‖f − f*‖/‖f*‖", func(s *Series) string {
			if !s.Run.Evaluation.Minimizer {
				return words.Dash
			}
			return statOf(s.values(statistic(experiments.MeasuredDistance))).text(qRisk)
		}},
	}
}

// processorTime writes the processor time of a series' training, or a dash if there are no runs.
func processorTime(s *Series) string {
	if len(s.Runs) == 0 {
		return words.Dash
	}
	return seconds(statOf(s.values(secondsInAll)))
}

// seconds writes a mean with two decimals and, for several runs, the standard deviation.
func seconds(s Stat) string {
	if s.N < 2 {
		return strconv.FormatFloat(s.Mean, 'f', 2, 64)
	}
	return fmt.Sprintf("%.2f ± %.2f", s.Mean, s.SD)
}
