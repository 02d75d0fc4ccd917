package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"polkrepro/experiments"
	"polkrepro/record"
)

// A tradeoff is the contents of a figure of error against model order and against time.
type tradeoff struct {
	task    string
	methods [][]*Series // of one look each
}

// tradeoffs makes the figures of the planned runs that set a method's error against its
// model order and its time, one for each data set and task with two series or more.
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
			name := "tradeoff" + strconv.Itoa(len(out)+1)
			out = append(out, &Figure{
				Name: name, Title: fmt.Sprintf("Error, model order and time. %s on %s", taskTitle(task), data),
				Caption: "Final error on the test set against (a) the final model order and (b) the processor time of the training thread, evaluations excluded. " +
					"Dots are means over runs, joined where they are of one method. Times are of the machines that made the records.",
				content: newTradeoff(task, group),
			})
		}
		all = all[n:]
	}
	return out
}

// newTradeoff puts the series together that differ in their model order alone: those of
// an entry of a spec.
func newTradeoff(task string, all []*Series) *tradeoff {
	t := &tradeoff{task: task}
	for _, s := range all {
		i := slices.IndexFunc(t.methods, func(m []*Series) bool { return m[0].entry() == s.entry() })
		if i < 0 {
			i = len(t.methods)
			t.methods = append(t.methods, nil)
		}
		t.methods[i] = append(t.methods[i], s)
	}
	return t
}

// entry tells apart the entries of specs.
func (s *Series) entry() string { return s.planned[0].Spec + "\x00" + s.planned[0].Label }

// name is what the legend calls an entry's series.
func (t *tradeoff) name(of []*Series) string {
	title := of[0].Run.Method
	if m := experiments.Method(title); m != nil {
		title = m.Title
	}
	if label := of[0].planned[0].Label; label != of[0].Run.Method {
		title += " (" + label + ")"
	}
	return title
}

// looks are those of the entries: an entry's rank among those of its method decides.
func (t *tradeoff) looks() []look {
	rank := make(map[string]int)
	out := make([]look, len(t.methods))
	for i, of := range t.methods {
		method := of[0].Run.Method
		out[i] = lookOf(method, rank[method])
		rank[method]++
	}
	return out
}

func (t *tradeoff) drawing() drawing {
	byOrder := panel{tag: "(a)", xlabel: "model order M", ylabel: errorName(t.task), log: true}
	byTime := panel{tag: "(b)", xlabel: "processor time of training (s)", ylabel: errorName(t.task), log: true}
	var l legend
	for i, lk := range t.looks() {
		of := t.methods[i]
		byOrder.traces = append(byOrder.traces, trace{look: lk, curve: points(of, orderAtEnd), dots: true})
		byTime.traces = append(byTime.traces, trace{look: lk, curve: points(of, secondsInAll), dots: true})
		l = append(l, lineEntry(plainLetters(t.name(of)), lk))
	}
	byOrder.span()
	byTime.span()
	return &picture{[]panel{byOrder, byTime}, l}
}

func orderAtEnd(r *record.Record) float64   { return r.Final.ModelOrder }
func secondsInAll(r *record.Record) float64 { return r.Final.Timing.CPU }
func errorAtEnd(r *record.Record) float64   { return 100 * r.Final.TestError }

// points are the mean errors of series with their mean x, ascending; those without a
// positive x have no place on the logarithmic axis.
func points(of []*Series, x func(*record.Record) float64) []sample {
	var out []sample
	for _, s := range of {
		if at := mean(s.values(x)); at > 0 {
			out = append(out, single(at, mean(s.values(errorAtEnd))))
		}
	}
	slices.SortFunc(out, func(a, b sample) int { return cmp.Compare(a.x, b.x) })
	return out
}

// rows are the runs.
func (t *tradeoff) rows() [][]string {
	rows := [][]string{{"method", "series", "seed", "draw", "model_order", "cpu_seconds", "error_percent"}}
	for _, of := range t.methods {
		for _, s := range of {
			for _, r := range s.Runs {
				run := r.Header.Run
				rows = append(rows, []string{t.name(of), s.Label, strconv.FormatUint(run.Seed, 10), strconv.FormatUint(run.Data.Draw, 10),
					exact(orderAtEnd(r)), exact(secondsInAll(r)), exact(errorAtEnd(r))})
			}
		}
	}
	return rows
}
