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

// A Comparison is the report on a comparison of pruning heuristics. It has two tables and two
// figures for each data set, then the figure of the ranks.
type Comparison struct {
	*compare.Result // the comparison
	*Report
}

// NewComparison makes the report on a comparison. The input describes the runs of the comparison.
func NewComparison(res *compare.Result, in Input) *Comparison {
	b := newBuilder(in)
	r := &Report{Input: in, Figures: comparisonFigures(res), Runs: b.runs(), Notes: b.notes(), Lead: res.Summary()}
	for _, f := range res.DataSets {
		r.Tables = append(r.Tables, verdictTable(f, res.Reference, "heuristic"), levelTable(f))
	}
	r.Runs.Numbers = comparisonRuns(res)
	return &Comparison{res, r}
}

// verdictTable holds all comparisons of a data set with the reference, of heuristics or of methods.
func verdictTable(f *compare.DataSetResult, reference, noun string) *Table {
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
func levelTable(f *compare.DataSetResult) *Table {
	last := f.Orders[len(f.Orders)-1]
	t := &Table{
		Name: f.Name + "-levels", Title: f.Title + ": error by heuristic and model order", Header: []string{"heuristic"},
		Numbers: [][]string{{"heuristic", "model_order", "error_percent", "error_sd", "cpu_seconds", "cpu_seconds_sd", "replicates"}},
		Notes: []string{fmt.Sprintf("Final test %s in per cent at equal model order M, mean ± standard deviation over replicates that reach it (of %d), on straight lines between their runs. "+
			"CPU: processor seconds of training to the largest. Dash: not reached.", errorOf(f.Task).caption, f.Replicates)},
	}
	for _, level := range f.Orders {
		t.Header = append(t.Header, "M = "+compare.Number(level))
	}
	t.Header = append(t.Header, "CPU (s), M = "+compare.Number(last))
	for _, e := range f.Entries {
		row, cpu := []string{e.Name}, words.Dash
		for _, level := range f.Orders {
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

// comparisonRuns are all runs as lines of a CSV file.
func comparisonRuns(res *compare.Result) [][]string {
	rows := [][]string{{"data_set", "heuristic", "size_parameter", "replicate", "model_order", "error_percent", "training_seconds", "largest_model_order", "mean_error_percent", "process_seconds"}}
	for _, f := range res.DataSets {
		for _, e := range f.Entries {
			for _, r := range e.Runs {
				rows = append(rows, line(f.Name, e.Name, r.Value, r.Replicate, r.Order, r.Error, r.Seconds, r.PeakOrder, r.MeanError, r.Process))
			}
		}
	}
	return rows
}

// Text is the summary and the data sets' tables for a terminal.
func (t *Comparison) Text() string {
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
