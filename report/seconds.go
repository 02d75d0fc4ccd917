package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/record"
)

const secondsText = "The paper compares methods by the samples they process. A step costs each of them another time, " +
	"and a batch method has no model before its end: here is what each reaches in how many seconds of a processor."

// seconds makes the figures of error against processor time, one for each data set of the
// paper's tables.
func (b *builder) seconds() (out []*Figure) {
	for _, name := range sortedKeys(b.paper.Data) {
		f := &timed{}
		for _, task := range experiments.Tasks() {
			series := b.ranked(func(p experiments.Planned) bool {
				return p.Run.Data.Name == name && p.Run.Task == task && len(p.Cells) > 0
			}, func(r *record.Record) bool { return r.Points[len(r.Points)-1].Timing.CPU > 0 })
			if len(series) > 0 {
				f.tasks, f.series = append(f.tasks, task), append(f.series, series)
			}
		}
		if len(f.tasks) == 0 {
			continue
		}
		out = append(out, &Figure{
			Name:  "seconds-" + name,
			Title: "Error against processor time on " + name,
			Caption: "Error on the test set against the processor time of training, evaluations excluded, of all methods of the tables: " + f.panels() +
				". Curves: methods that learn from a stream, at each evaluation, means over runs of both; " +
				"dots: batch methods, which have a model only at their end. A label with two values is of (a) | (b). Times are of the machines that made the records, which did other work too.",
			content: f,
		})
	}
	return out
}

// timed are the contents of a figure of error against processor time: a panel for each task.
type timed struct {
	tasks  []string
	series [][]*Series
}

// panels names the panels.
func (f *timed) panels() string {
	var out []string
	for i, task := range f.tasks {
		out = append(out, fmt.Sprintf("(%c) %s", 'a'+i, taskTitle(task)))
	}
	return sentence(out...)
}

func (f *timed) drawing() drawing {
	p := &picture{}
	labels := make(map[string][]string) // of the series that look alike, by method and rank
	var order []string
	shown := make(map[string]*Series)
	for i, task := range f.tasks {
		pn := panel{tag: fmt.Sprintf("(%c) %s", 'a'+i, taskTitle(task)), xlabel: "processor seconds", ylabel: errorName(task), log: true}
		for _, s := range f.series[i] {
			pn.traces = append(pn.traces, trace{look: s.look(), curve: overTime(s)})
			key := fmt.Sprint(s.Run.Method, s.Rank)
			if shown[key] == nil {
				shown[key] = s
				order = append(order, key)
			}
			labels[key] = appendNew(labels[key], s.Label)
		}
		pn.span()
		p.panels = append(p.panels, pn)
	}
	for _, key := range order {
		text := plainLetters(together(labels[key]))
		if s := shown[key]; s.batch() {
			p.legend = append(p.legend, iconEntry(text, func(c draw.Canvas, at vg.Point) {
				c.DrawGlyphNoClip(draw.GlyphStyle{Color: s.look().color, Radius: 1.8, Shape: draw.CircleGlyph{}}, at)
			}))
		} else {
			p.legend = append(p.legend, lineEntry(text, s.look()))
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
func overTime(s *Series) []sample {
	wrong := finiteAt(s.Runs, func(p record.Point) float64 { return 100 * p.TestError })
	seconds := finiteAt(s.Runs, func(p record.Point) float64 { return p.Timing.CPU })
	var out []sample
	for _, n := range slices.Sorted(maps.Keys(wrong)) {
		if e, t := wrong[n], mean(seconds[n]); len(e) > 0 && t > 0 && !math.IsInf(t, 0) {
			out = append(out, single(t, mean(e)))
		}
	}
	slices.SortStableFunc(out, func(a, b sample) int { return cmp.Compare(a.x, b.x) })
	return out
}

// rows are the points of all runs.
func (f *timed) rows() [][]string {
	rows := [][]string{{"task", "series", "seed", "draw", "samples", "cpu_seconds", "error_percent"}}
	for i, task := range f.tasks {
		for _, s := range f.series[i] {
			for _, r := range s.Runs {
				run := r.Header.Run
				for _, p := range r.Points {
					rows = append(rows, []string{task, s.Label, strconv.FormatUint(run.Seed, 10), strconv.FormatUint(run.Data.Draw, 10),
						strconv.Itoa(p.Samples), words.Exact(p.Timing.CPU), words.Exact(100 * p.TestError)})
				}
			}
		}
	}
	return rows
}
