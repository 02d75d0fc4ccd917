package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"polkrepro/internal/words"
	"polkrepro/record"
)

// A tradeoff is the contents of a figure of error against model order, or against time.
type tradeoff struct {
	task    string
	entries []specEntry
	byTime  bool
}

// tradeoffs makes the figures of the planned runs that set a method's error against its
// model order and its time, two for each data set and task with two series or more.
func (b *builder) tradeoffs() []*Figure {
	var out []*Figure
	all := slices.DeleteFunc(b.series(allRuns), func(s *Series) bool { return len(s.Runs) == 0 })
	for len(all) > 0 {
		data, task := all[0].dataName(), all[0].Run.Task
		n := slices.IndexFunc(all, func(s *Series) bool { return s.dataName() != data || s.Run.Task != task })
		if n < 0 {
			n = len(all)
		}
		if group := all[:n]; n > 1 {
			name := "tradeoff" + strconv.Itoa(len(out)/2+1)
			entries := entriesOf(group)
			end := fmt.Sprintf(" a panel for each method: means over runs, bars are their standard deviation. In each panel %s is blue.", entries[0].name)
			out = append(out,
				&Figure{Name: name, Title: fmt.Sprintf("Error and model order. %s on %s", taskTitle(task), data),
					Caption: "Final error on the test set against the final model order," + end, content: &tradeoff{task, entries, false}},
				&Figure{Name: name + "-time", Title: fmt.Sprintf("Error and time. %s on %s", taskTitle(task), data),
					Caption: "Final error on the test set against processor seconds of training, evaluations excluded," + end + " Times are of the machines that made the records.",
					content: &tradeoff{task, entries, true}})
		}
		all = all[n:]
	}
	return out
}

func (t *tradeoff) drawing() drawing {
	looks := entryBadges(t.entries)
	first := t.entries[0].name
	m := &multiples{ylabel: errorName(t.task), logX: true, legend: legend{looks[first].entry(first)}}
	xlabel := "model order"
	if t.byTime {
		xlabel = "CPU (s)"
	}
	return entryPanels(t.entries, m, func(e specEntry) facet {
		f := facet{title: e.name, xlabel: xlabel, lines: []facetLine{t.line(t.entries[0], looks[first], 0.9)}}
		if e.name != first {
			f.lines = append(f.lines, t.line(e, looks[e.name], 1.1))
		}
		return f
	})
}

func orderAtEnd(r *record.Record) float64   { return r.Final.ModelOrder }
func secondsInAll(r *record.Record) float64 { return r.Final.Timing.CPU }
func errorAtEnd(r *record.Record) float64   { return 100 * r.Final.TestError }

// line is the mean errors of an entry's series with their mean order, which are joined, or
// time, which are not.
func (t *tradeoff) line(e specEntry, b badge, width vg.Length) facetLine {
	x := orderAtEnd
	if t.byTime {
		x = secondsInAll
	}
	series := slices.SortedStableFunc(slices.Values(e.series), func(a, b *Series) int { return cmp.Compare(mean(a.values(x)), mean(b.values(x))) })
	l := facetLine{badge: b, width: width, markers: true, apart: t.byTime}
	for _, s := range series {
		l.points = append(l.points, plotter.XY{X: mean(s.values(x)), Y: mean(s.values(errorAtEnd))})
		l.half = append(l.half, deviation(s.values(errorAtEnd)))
	}
	return l
}

// rows are the runs.
func (t *tradeoff) rows() [][]string {
	rows := [][]string{{"method", "series", "seed", "draw", "model_order", "cpu_seconds", "error_percent"}}
	for _, e := range t.entries {
		for _, s := range e.series {
			for _, r := range s.Runs {
				run := r.Header.Run
				rows = append(rows, []string{e.name, s.Label, strconv.FormatUint(run.Seed, 10), strconv.FormatUint(run.Data.Draw, 10),
					words.Exact(orderAtEnd(r)), words.Exact(secondsInAll(r)), words.Exact(errorAtEnd(r))})
			}
		}
	}
	return rows
}
