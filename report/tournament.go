package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"polkrepro/compare"
	"polkrepro/internal/words"
	"polkrepro/report/table"
)

// A Tournament is the report on a comparison of pruning heuristics. It has two tables and two
// figures for each field, then the figure of the ranks.
type Tournament struct {
	*compare.Result // the comparison
	*Report
}

// NewTournament makes the report on a comparison. The input describes the runs of the comparison.
func NewTournament(res *compare.Result, in Input) *Tournament {
	b := newBuilder(in)
	r := &Report{Input: in, Figures: tournamentFigures(res), Runs: b.runs(), Notes: b.notes(), Lead: res.Summary()}
	for _, f := range res.Fields {
		r.Tables = append(r.Tables, verdictTable(f, res.Reference, "heuristic"), levelTable(f))
	}
	r.Runs.Numbers = tournamentRuns(res)
	return &Tournament{res, r}
}

// verdictTable holds all comparisons of a field with the reference, of heuristics or of methods.
func verdictTable(f *compare.FieldResult, reference, noun string) *Table {
	equal := ", equal order"
	if f.OwnOrders {
		equal = ""
	}
	basis := cmp.Or(f.Basis, fmt.Sprintf("%d replicates of %d samples.", f.Replicates, f.Samples))
	t := &Table{
		Name: f.Name, Title: fmt.Sprintf("%s: %ss against %s", f.Title, noun, reference),
		Header: []string{noun, "error" + equal, "95 % interval", "p", "error, equal time", "mean error", "time" + equal},
		Notes: []string{
			fmt.Sprintf("%s Differences are %s less %s, in points of the test %s; times are ratios. "+
				"p is corrected by Holm's method for the %ss of the table. Mean error: over the stream, at equal largest model order. "+
				"Not marked: not distinguishable. Grid too coarse: different, but within the possible error of interpolation between runs. "+
				"Dash: not comparable.", basis, noun, reference, errorOf(f.Task).caption, noun),
		},
	}
	t.Numbers = [][]string{{noun, "by", "difference", "low", "high", "p", "interpolation_error", "replicates", "compared_at", "verdict", "reason"}}
	for _, e := range f.Entries[1:] {
		row := []string{e.Name}
		for _, m := range compare.Measures() {
			c := e.Compared[m]
			if m == compare.ErrorAtOrder && c.Reason != "" {
				t.Notes = append(t.Notes, e.Name+": "+c.Reason+".")
			}
			// A cell holds one number or nothing. Times are natural logarithms of ratios.
			t.Numbers = append(t.Numbers, line(e.Name, m, c.Difference, c.Low, c.High, c.Decisive(), c.Bend, c.N, compare.Numbers(c.Levels), c.Verdict, c.Reason))
			effect, interval, p := words.Dash, words.Dash, words.Dash
			if len(c.Levels) > 0 {
				effect, interval, p = m.Difference(c.Difference), m.Interval(c), compare.PValue(c.Decisive())
			}
			if c.Verdict == compare.Better || c.Verdict == compare.Worse || c.Verdict == compare.TooCoarse {
				effect += " " + m.Verdict(c.Verdict)
			}
			row = append(row, effect)
			if m == compare.ErrorAtOrder {
				row = append(row, interval, p)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// levelTable holds the error of all heuristics at the model orders compared.
func levelTable(f *compare.FieldResult) *Table {
	last := f.Levels[len(f.Levels)-1]
	t := &Table{
		Name: f.Name + "-levels", Title: f.Title + ": error by heuristic and model order", Header: []string{"heuristic"},
		Numbers: [][]string{{"heuristic", "model_order", "error_percent", "error_sd", "cpu_seconds", "cpu_seconds_sd", "replicates"}},
		Notes: []string{fmt.Sprintf("Final test %s in per cent at equal model order M, mean ± standard deviation over replicates that reach it (of %d), on straight lines between their runs. "+
			"CPU: processor seconds of training to the largest. Dash: not reached.", errorOf(f.Task).caption, f.Replicates)},
	}
	for _, level := range f.Levels {
		t.Header = append(t.Header, "M = "+compare.Number(level))
	}
	t.Header = append(t.Header, "CPU (s), M = "+compare.Number(last))
	for _, e := range f.Entries {
		row, cpu := []string{e.Name}, words.Dash
		for _, level := range f.Levels {
			wrong, times := e.At(compare.ErrorAtOrder, level), e.At(compare.Time, level)
			for i := range times {
				times[i] = math.Exp(times[i])
			}
			if len(wrong) == 0 {
				row = append(row, words.Dash)
				continue
			}
			w, s := statOf(wrong), statOf(times)
			row = append(row, seconds(w))
			if level == last {
				cpu = seconds(s)
			}
			t.Numbers = append(t.Numbers, line(e.Name, level, w.Mean, w.SD, s.Mean, s.SD, w.N))
		}
		t.Rows = append(t.Rows, append(row, cpu))
	}
	return t
}

// tournamentRuns are all runs as lines of a CSV file.
func tournamentRuns(res *compare.Result) [][]string {
	rows := [][]string{{"field", "heuristic", "knob", "replicate", "model_order", "error_percent", "training_seconds", "largest_model_order", "mean_error_percent", "process_seconds"}}
	for _, f := range res.Fields {
		for _, e := range f.Entries {
			for _, r := range e.Runs {
				rows = append(rows, line(f.Name, e.Name, r.Value, r.Replicate, r.Order, r.Error, r.Seconds, r.PeakOrder, r.MeanError, r.Process))
			}
		}
	}
	return rows
}

// Text is the summary and the fields' tables for a terminal.
func (t *Tournament) Text() string {
	var b strings.Builder
	b.WriteString(t.Title + "\n\n")
	for _, s := range t.Summary() {
		b.WriteString(table.Wrap(s, table.NoteWidth, "  ") + "\n\n")
	}
	for _, tb := range t.Tables {
		b.WriteString(tb.Text() + "\n")
	}
	return b.String()
}
