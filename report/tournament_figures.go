package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"polkrepro/compare"
	"polkrepro/internal/words"
)

// tournamentFigures makes all figures of a tournament: of each field the
// trade-offs and the error over the stream, then the ranks.
func tournamentFigures(res *compare.Result) []*Figure {
	var names []string
	for _, f := range res.Fields {
		for _, e := range f.Entries {
			names = append(names, e.Heuristic.Name)
		}
	}
	slices.Sort(names)
	all := badges(slices.Compact(names), res.Reference)
	var out []*Figure
	for _, f := range res.Fields {
		missing := ""
		if len(paneled(f)) == 0 {
			missing = fmt.Sprintf("no heuristic other than %s has runs", res.Reference)
		}
		out = append(out,
			&Figure{Name: f.Name + "-order", Title: f.Title + ": error against model order",
				Caption: caption("Final "+errorWords(f.Task)+" against final model order, a point for each value of the knob: means over replicates; bars and bands are their standard deviation.", f, res.Reference) +
					" Fine lines: the model orders at which errors are compared. Below each name: the verdict by error at equal model order.",
				Missing: missing, content: &tradeOff{f, all, false}},
			&Figure{Name: f.Name + "-time", Title: f.Title + ": error against training time",
				Caption: caption("Final "+errorWords(f.Task)+" against processor seconds of training, a point for each value of the knob: means over replicates; bars are their standard deviation.", f, res.Reference) +
					" Below each name: the verdict by error at equal training time.",
				Missing: missing, content: &tradeOff{f, all, true}},
			&Figure{Name: f.Name + "-anytime", Title: f.Title + ": error against samples",
				Caption: caption("Test "+errorWords(f.Task)+" against training samples processed, at the value of each knob whose largest model order over the stream is nearest to the middle one compared (M, below the name): means over replicates; bands are their standard deviation.", f, res.Reference),
				Missing: missing, content: &anytime{f, all}},
			&Figure{Name: f.Name + "-fronts", Title: f.Title + ": what no other run beats",
				Caption: caption("All heuristics at all values of their knobs (grey), and the Pareto fronts: of error against model order (left) and against training time (right). Bars: standard deviation over replicates.", f, ""),
				content: &fronts{f, all}})
	}
	if res.Standing != nil {
		out = append(out, &Figure{Name: "ranks", Title: "Mean ranks by error at equal model order",
			Caption: fmt.Sprintf("Mean ranks over %d blocks, replicates of %d fields; 1 is the best. Bars join heuristics whose ranks differ by less than Nemenyi's critical difference (CD, level 5 %%).", res.Standing.Blocks, res.Standing.Fields),
			content: &ranks{res.Standing, res.Reference}})
	}
	return out
}

// caption ends a caption with what all have in common.
func caption(begin string, f *compare.FieldResult, reference string) string {
	begin += fmt.Sprintf(" %d replicates of %d samples.", f.Replicates, f.Samples)
	if reference != "" {
		begin += fmt.Sprintf(" In each panel %s is blue.", reference)
	}
	return begin
}

// Columns and height of the panels of a tournament.
const (
	facetColumns = 4
	facetHeight  = 1.05 * vg.Inch
)

// facetsOf is how many of a field's heuristics stand in a row.
func facetsOf(f *compare.FieldResult) int { return max(1, min(facetColumns, len(paneled(f)))) }

// paneled returns the heuristics that have a panel: all that have runs but the reference.
func paneled(f *compare.FieldResult) []*compare.Entry {
	return slices.DeleteFunc(slices.Clone(f.Entries[1:]), func(e *compare.Entry) bool { return len(e.Runs) == 0 })
}

// heightOf is the height of a panel: the fewer are in a row, the higher they are.
func heightOf(f *compare.FieldResult) vg.Length {
	return min(panelHeight, facetHeight*facetColumns/vg.Length(facetsOf(f)))
}

// referenceLegend says which line is the reference's: each panel has it.
func referenceLegend(f *compare.FieldResult, badges map[string]badge, apart bool) legend {
	name := f.Reference().Heuristic.Name
	if apart {
		return legend{badges[name].entry(name)}
	}
	return legend{strokeEntry(plainLetters(name), badges[name].line(0.9))}
}

// tradeOff shows error against cost.
type tradeOff struct {
	field  *compare.FieldResult
	badges map[string]badge
	byTime bool
}

// at places a heuristic at a value of its knob.
func (t *tradeOff) at(p compare.Means) plotter.XY {
	if t.byTime {
		return plotter.XY{X: p.Seconds, Y: p.Error}
	}
	return plotter.XY{X: p.Order, Y: p.Error}
}

// xlabel is the name of the x axis.
func (t *tradeOff) xlabel() string {
	if t.byTime {
		return "CPU (s)"
	}
	return "model order"
}

// line returns a heuristic's trade-off in the order of its cost.
func (t *tradeOff) line(e *compare.Entry, width vg.Length, markers bool) facetLine {
	l := facetLine{badge: t.badges[e.Heuristic.Name], width: width, markers: markers}
	points := slices.Clone(e.Points)
	slices.SortStableFunc(points, func(a, b compare.Means) int { return cmp.Compare(t.at(a).X, t.at(b).X) })
	for _, p := range points {
		l.points = append(l.points, t.at(p))
		l.half = append(l.half, spreadOf(e, p))
	}
	l.apart = t.byTime // more time is not always to a larger order
	return l
}

// spreadOf is the standard deviation of the errors behind a mean.
func spreadOf(e *compare.Entry, p compare.Means) float64 {
	return deviation(e.Of(p.Value, func(r compare.Trial) float64 { return r.Error }))
}

func (t *tradeOff) drawing() drawing {
	m := &multiples{ylabel: errorName(t.field.Task), logX: true, columns: facetsOf(t.field), height: heightOf(t.field),
		legend: referenceLegend(t.field, t.badges, t.byTime)}
	measure, levels := compare.ErrorAtOrder, t.field.Levels
	if t.byTime {
		measure, levels = compare.ErrorAtTime, nil
	}
	for _, e := range paneled(t.field) {
		m.panels = append(m.panels, facet{
			title: e.Heuristic.Name, remark: measure.Verdict(e.Compared[measure].Verdict), xlabel: t.xlabel(), levels: levels,
			lines: []facetLine{t.line(t.field.Reference(), 0.9, t.byTime), t.line(e, 1.1, true)},
		})
	}
	return m
}

// rows are the points.
func (t *tradeOff) rows() [][]string {
	rows := [][]string{{"heuristic", "knob", "model_order", "error_percent", "training_seconds", "error_sd", "replicates"}}
	for _, e := range t.field.Entries {
		for _, p := range e.Points {
			rows = append(rows, []string{e.Heuristic.Name, words.Exact(p.Value), words.Exact(p.Order), words.Exact(p.Error), words.Exact(p.Seconds), words.Exact(spreadOf(e, p)), strconv.Itoa(p.Runs)})
		}
	}
	return rows
}

// anytime shows error against samples.
type anytime struct {
	field  *compare.FieldResult
	badges map[string]badge
}

// nearest returns the point of a heuristic whose largest model order is nearest to the
// middle one of those compared.
func (a *anytime) nearest(e *compare.Entry) compare.Means {
	middle := a.field.Levels[len(a.field.Levels)/2]
	off := func(p compare.Means) float64 { return math.Abs(math.Log(p.PeakOrder / middle)) }
	return slices.MinFunc(e.Points, func(p, q compare.Means) int { return cmp.Compare(off(p), off(q)) })
}

// line returns the mean over replicates of a heuristic's error over the stream.
func (a *anytime) line(e *compare.Entry, width vg.Length) facetLine {
	l := facetLine{badge: a.badges[e.Heuristic.Name], width: width}
	value, at := a.nearest(e).Value, make(map[float64][]float64)
	for _, r := range e.Runs {
		for i, s := range r.Samples {
			if r.Value == value {
				at[s] = append(at[s], r.Errors[i])
			}
		}
	}
	for _, s := range slices.Sorted(maps.Keys(at)) {
		l.points, l.half = append(l.points, plotter.XY{X: s, Y: mean(at[s])}), append(l.half, deviation(at[s]))
	}
	return l
}

func (a *anytime) drawing() drawing {
	m := &multiples{ylabel: errorName(a.field.Task), columns: facetsOf(a.field), height: heightOf(a.field),
		legend: referenceLegend(a.field, a.badges, false)}
	for _, e := range paneled(a.field) {
		m.panels = append(m.panels, facet{
			title: e.Heuristic.Name, remark: "M " + compare.Number(a.nearest(e).PeakOrder), xlabel: "samples processed",
			lines: []facetLine{a.line(a.field.Reference(), 0.9), a.line(e, 1.1)},
		})
	}
	return m
}

// rows are the curves that are shown.
func (a *anytime) rows() [][]string {
	rows := [][]string{{"heuristic", "knob", "samples", "mean_error_percent", "error_sd"}}
	for _, e := range append([]*compare.Entry{a.field.Reference()}, paneled(a.field)...) {
		value := words.Exact(a.nearest(e).Value)
		l := a.line(e, 0)
		for i, p := range l.points {
			rows = append(rows, []string{e.Heuristic.Name, value, strconv.FormatFloat(p.X, 'f', -1, 64), words.Exact(p.Y), words.Exact(l.half[i])})
		}
	}
	return rows
}

// fronts shows what no other run beats.
type fronts struct {
	field  *compare.FieldResult
	badges map[string]badge
}

// drawing lays the figure out: two panels whose x axes differ.
func (f *fronts) drawing() drawing {
	grey := badge{rgb(0xc4, 0xc4, 0xc4), heuristicMarkers[0]}
	m := &multiples{ylabel: errorName(f.field.Task), logX: true, ownX: true, columns: 2, height: panelHeight}
	var shown []string
	for _, byTime := range []bool{false, true} {
		t := tradeOff{f.field, f.badges, byTime}
		front := facet{xlabel: t.xlabel()}
		for _, e := range f.field.Entries {
			for _, p := range e.Points {
				front.points = append(front.points, facetPoint{grey, t.at(p), 0})
			}
		}
		edge := facetLine{badge: badge{rgb(0x88, 0x88, 0x88), nil}, width: 0.6}
		for _, p := range f.field.Front(byTime) {
			front.points = append(front.points, facetPoint{f.badges[p.Heuristic], t.at(p.Means), spreadOf(f.field.Entry(p.Heuristic), p.Means)})
			edge.points = append(edge.points, t.at(p.Means))
			if !slices.Contains(shown, p.Heuristic) {
				shown = append(shown, p.Heuristic)
				m.legend = append(m.legend, f.badges[p.Heuristic].entry(p.Heuristic))
			}
		}
		if len(edge.points) > 1 {
			front.lines = []facetLine{edge}
		}
		m.panels = append(m.panels, front)
	}
	return m
}

// rows are the fronts.
func (f *fronts) rows() [][]string {
	rows := [][]string{{"front", "heuristic", "knob", "model_order", "error_percent", "training_seconds"}}
	for _, byTime := range []bool{false, true} {
		name := "order"
		if byTime {
			name = "time"
		}
		for _, p := range f.field.Front(byTime) {
			rows = append(rows, []string{name, p.Heuristic, words.Exact(p.Value), words.Exact(p.Order), words.Exact(p.Error), words.Exact(p.Seconds)})
		}
	}
	return rows
}
