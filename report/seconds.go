package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"polkrepro/experiments"
	"polkrepro/record"
	"polkrepro/report/plot"
)

const secondsText = "The paper compares methods by the samples they process. A step costs each of them another time, " +
	"and a batch method has no model before its end: here is what each reaches in how many seconds of a processor."

// seconds makes the figures of error against processor time, one for each data set of the
// paper's tables, with a panel for each task.
func (b *builder) seconds() (out []*Figure) {
	for _, name := range sortedKeys(b.paper.Data) {
		f := &timed{}
		for _, task := range experiments.Tasks() {
			series := b.ranked(func(p experiments.Planned) bool {
				return p.Run.Data.Name == name && p.Run.Task == task && len(p.Cells) > 0
			}, func(r *record.Record) bool { return r.Points[len(r.Points)-1].Timing.CPU > 0 })
			if len(series) > 0 {
				f.titles = append(f.titles, fmt.Sprintf("(%c) %s", 'a'+len(f.series), taskTitle(task)))
				f.series = append(f.series, series)
			}
		}
		if len(f.series) == 0 {
			continue
		}
		out = append(out, &Figure{
			Name:  "seconds-" + name,
			Title: "Error against processor time on " + name,
			Caption: "Error on the test set against the processor time of training, evaluations excluded, of all methods of the tables: " + sentence(f.titles...) +
				". Curves: methods that learn from a stream, at each evaluation, means over runs of both; " +
				"dots: batch methods, which have a model only at their end. A label with two values is of (a) | (b). Times are of the machines that made the records, which did other work too.",
			Drawing: f.picture(), Data: f.rows,
		})
	}
	return out
}

// timed are the contents of a figure of error against processor time: a panel for each task.
type timed struct {
	titles []string
	series [][]*Series
}

func (f *timed) picture() *plot.Picture {
	p := &plot.Picture{}
	labels := make(map[string][]string) // of the series that look alike, by method and rank
	var shown []*Series                 // the first of those
	alike := func(s *Series) string { return fmt.Sprint(s.Run.Method, s.Rank) }
	for i, series := range f.series {
		pn := &plot.Panel{Title: f.titles[i], XLabel: "processor seconds", YLabel: errorName(series[0].Run.Task), LogY: true, Traces: traces(series, overTime)}
		for _, s := range series {
			if labels[alike(s)] == nil {
				shown = append(shown, s)
			}
			labels[alike(s)] = appendNew(labels[alike(s)], s.Label)
		}
		pn.Span()
		p.Panels = append(p.Panels, pn)
	}
	for _, s := range shown {
		text := together(labels[alike(s)])
		if s.batch() {
			p.Legend = append(p.Legend, plot.IconEntry(text, s.look().Mark))
		} else {
			p.Legend = append(p.Legend, plot.LineEntry(text, s.look()))
		}
	}
	return p
}

// together joins labels; the later ones give no more than their last value:
// "POLK, K = 0.04 | 0.03", "POLK, order=221 | 55".
func together(labels []string) string {
	out := labels[0]
	for _, l := range labels[1:] {
		if i := strings.LastIndex(l, "= "); i >= 0 {
			l = l[i+len("= "):]
		} else if i := strings.LastIndex(l, "="); i >= 0 && strings.HasPrefix(out, l[:i+1]) {
			l = l[i+1:]
		}
		out += " | " + l
	}
	return out
}

// overTime is the error of a series over the processor time, at each number of samples at
// which its runs were evaluated.
func overTime(s *Series) []plot.Sample {
	wrong := finiteAt(s.Runs, func(p record.Point) float64 { return 100 * p.TestError })
	seconds := finiteAt(s.Runs, func(p record.Point) float64 { return p.Timing.CPU })
	var out []plot.Sample
	for _, n := range slices.Sorted(maps.Keys(wrong)) {
		if e, t := wrong[n], mean(seconds[n]); len(e) > 0 && t > 0 && !math.IsInf(t, 0) {
			out = append(out, plot.Single(t, mean(e)))
		}
	}
	slices.SortStableFunc(out, func(a, b plot.Sample) int { return cmp.Compare(a.X, b.X) })
	return out
}

// rows are the points of all runs.
func (f *timed) rows() [][]string {
	rows := [][]string{strings.Fields("task series seed draw samples cpu_seconds error_percent")}
	for s, r := range runsOf(slices.Concat(f.series...)) {
		for _, p := range r.Points {
			row := append([]string{s.Run.Task}, s.rowOf(r, strconv.Itoa(p.Samples))...)
			rows = append(rows, append(row, exact(p.Timing.CPU, 100*p.TestError)...))
		}
	}
	return rows
}
