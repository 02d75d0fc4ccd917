package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"polkrepro/internal/words"
	"polkrepro/paper"
	"polkrepro/record"
	"polkrepro/spec"
)

// A column of a table of series has a heading and a text for each series.
type column struct {
	heading string
	of      func(*Series) string
}

// tabulate completes a table with a row for each series. The columns on the plan come first, then
// those on the records, which are empty for a series without runs.
func tabulate(t Table, series []*Series, planned, recorded []column) *Table {
	t.Rows = make([][]string, len(series))
	for k, c := range slices.Concat(planned, recorded) {
		t.Header = append(t.Header, c.heading)
		for i, s := range series {
			text := ""
			if k < len(planned) || len(s.Runs) > 0 {
				text = c.of(s)
			}
			t.Rows[i] = append(t.Rows[i], text)
		}
	}
	return &t
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

// runCount writes how many of the planned runs have a record, and on a user's rows what varies.
func (s *Series) runCount() string {
	return strings.TrimSpace(fmt.Sprintf("%d of %d %s", len(s.Runs), len(s.planned), spec.Varied(s.planned)))
}

// finalColumns returns the columns of the final test risk, error and model order, as text writes
// them.
func finalColumns(errorHeading string, text func(Stat, int) string) (out []column) {
	for q, heading := range []string{"test risk", errorHeading, "model order"} {
		out = append(out, column{heading, func(s *Series) string {
			return cmp.Or(text(finalStats(s.Runs, paper.RiskTest)[q], q), words.Dash)
		}})
	}
	return out
}

// resultColumns returns finalColumns, and those of the processor time and of the numbers kept.
func resultColumns(text func(Stat, int) string) []column {
	return append(finalColumns("error (%)", text),
		column{"CPU (s)", processorTime},
		column{"numbers kept", func(s *Series) string { return cmp.Or(s.numbers(), words.Dash) }})
}

// runs makes the table of the runs' cost, with a row for each series.
func (b *builder) runs() *Table {
	planned := append(plannedColumns(), column{"failed", func(s *Series) string { return fmt.Sprint(b.failed(s.planned)) }})
	recorded := []column{{"samples", func(s *Series) string { return fmt.Sprintf("%.0f", mean(s.values(samples))) }}}
	recorded = append(recorded, finalColumns("test error (%)", Stat.text)...)
	recorded = append(recorded,
		column{"wall (s)", func(s *Series) string { return seconds(statOf(s.values(wall))) }},
		column{"CPU (s)", processorTime},
		column{"CPU, all runs (s)", func(s *Series) string {
			total := 0.0
			for _, v := range s.values(secondsInAll) {
				total += v
			}
			return fmt.Sprintf("%.1f", total)
		}},
		column{"µs a sample", func(s *Series) string { return s.microseconds(0) }},
		column{"µs, second half", func(s *Series) string { return s.microseconds(0.5) }},
		column{"kernel evaluations", func(s *Series) string { return fmt.Sprintf("%.2e", mean(s.values(evaluations))) }})
	return tabulate(Table{
		Name: "runs", Title: "The runs and their cost",
		Notes: append([]string{
			"Per run: mean ± standard deviation. Times are of the training alone, evaluations excluded; CPU seconds are those of the training threads.",
			"µs a sample: processor time by samples, for learners of a stream; second half: from the last evaluation in the first half of the run on.",
		}, b.processNote()...),
	}, b.series(allRuns), planned, recorded)
}

// processNote returns a note on the processor time of runs whose heuristic is a process of its own,
// if there are any.
func (b *builder) processNote() []string {
	for _, r := range b.records(b.in.Planned) {
		if r.Final.Timing.Pruner > 0 {
			return []string{"For a heuristic in a process of its own, CPU and µs include the time that training waited for it."}
		}
	}
	return nil
}

// microseconds writes the processor time of a sample from the given part of the runs on, in µs, or a dash for a
// batch method.
func (s *Series) microseconds(from float64) string {
	if s.batch() {
		return words.Dash
	}
	return fmt.Sprintf("%.3g", mean(s.values(func(r *record.Record) float64 {
		var skipped record.Point
		for _, p := range r.Points {
			if float64(p.Samples) <= from*float64(r.Final.Samples) {
				skipped = p
			}
		}
		return 1e6 * (r.Final.Timing.Training() - skipped.Timing.Training()) / float64(r.Final.Samples-skipped.Samples)
	})))
}

// Values of a run: its number of samples processed, its number of kernel evaluations, the time of
// its training and the processor time of that, with the time waited for a heuristic's process.
func samples(r *record.Record) float64      { return float64(r.Final.Samples) }
func evaluations(r *record.Record) float64  { return float64(r.Final.KernelEvals) }
func wall(r *record.Record) float64         { return r.Final.Timing.Wall }
func secondsInAll(r *record.Record) float64 { return r.Final.Timing.Training() }

// results makes a table of the results of the planned runs that fit, with a row for each series.
// The columns of more come last.
func (b *builder) results(name, title string, fits func(spec.Planned) bool, more ...column) *Table {
	parts := strings.SplitAfterN(title, ". ", 2) // a number, if it has one, and the rest
	return tabulate(Table{
		Name: name, Title: title, Caption: parts[len(parts)-1] + ".",
		Notes: append([]string{
			"Mean ± standard deviation over runs; online learners are averaged over the last 5 % of the processed samples. In brackets: Student's 90 % interval of the mean.",
			"Numbers kept: what an online learner stores between samples at its mean model order: dictionary, weights and, where the method needs one, the inverse kernel matrix or a projection; of random features the weights alone, as the seed gives the frequencies again.",
			"CPU: processor time of training, evaluations excluded.",
		}, b.processNote()...),
	}, b.series(fits), plannedColumns(), append(resultColumns(Stat.full), more...))
}

// columnsOfQuestions returns the extra columns of the table of open questions: the training risk,
// which the paper prints for some data sets, and the relative distance to the minimizer for runs
// that are measured against it. Other supplements have none.
func columnsOfQuestions(supplement string) []column {
	if supplement != spec.OpenQuestions {
		return nil
	}
	return []column{
		{"training risk", func(s *Series) string {
			return cmp.Or(finalStats(s.Runs, paper.RiskTrain)[qRisk].text(qRisk), words.Dash)
		}},
		{"‖f − f*‖/‖f*‖", func(s *Series) string {
			if !s.Run.Evaluation.Minimizer {
				return words.Dash
			}
			return statOf(s.values(statistic(paper.MeasuredDistance))).text(qRisk)
		}},
	}
}

// processorTime writes the processor time of a series' training.
func processorTime(s *Series) string { return seconds(statOf(s.values(secondsInAll))) }

// seconds writes a mean with two decimals and, for several runs, the standard deviation.
func seconds(s Stat) string {
	if s.N < 2 {
		return fmt.Sprintf("%.2f", s.Mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", s.Mean, s.SD)
}
