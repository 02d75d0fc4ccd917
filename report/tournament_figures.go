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

	"polkrepro/compare"
	"polkrepro/evidence/stats"
	"polkrepro/report/plot"
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
	for _, field := range res.Fields {
		f := &fieldFigures{field, all}
		missing := ""
		if len(f.others()) == 0 {
			missing = fmt.Sprintf("no heuristic other than %s has runs", res.Reference)
		}
		out = append(out,
			&Figure{Name: f.Name + "-order", Title: f.Title + ": error against model order", Missing: missing, Data: f.costRows,
				Caption: f.caption("Final "+errorWords(f.Task)+" against final model order, a point for each value of the knob: means over replicates; bars and bands are their standard deviation.", res.Reference) +
					" Fine lines: the model orders at which errors are compared. Below each name: the verdict by error at equal model order.",
				Drawing: f.costs(false)},
			&Figure{Name: f.Name + "-time", Title: f.Title + ": error against training time", Missing: missing, Data: f.costRows,
				Caption: f.caption("Final "+errorWords(f.Task)+" against processor seconds of training, a point for each value of the knob: means over replicates; bars are their standard deviation.", res.Reference) +
					" Below each name: the verdict by error at equal training time.",
				Drawing: f.costs(true)},
			&Figure{Name: f.Name + "-anytime", Title: f.Title + ": error against samples", Missing: missing, Data: f.anytimeRows,
				Caption: f.caption("Test "+errorWords(f.Task)+" against training samples processed, at the value of each knob whose largest model order over the stream is nearest to the middle one compared (M, below the name): means over replicates; bands are their standard deviation.", res.Reference),
				Drawing: f.anytime()},
			&Figure{Name: f.Name + "-fronts", Title: f.Title + ": what no other run beats", Data: f.frontRows,
				Caption: f.caption("All heuristics at all values of their knobs (grey), and the Pareto fronts: of error against model order (left) and against training time (right). Bars: standard deviation over replicates.", ""),
				Drawing: f.fronts()})
	}
	if res.Standing != nil {
		r := &ranks{res.Standing, res.Reference}
		out = append(out, &Figure{Name: "ranks", Title: "Mean ranks by error at equal model order", Drawing: r, Data: r.rows,
			Caption: fmt.Sprintf("Mean ranks over %d blocks, replicates of %d fields; 1 is the best. Bars join heuristics whose ranks differ by less than Nemenyi's critical difference (CD, level 5 %%).", res.Standing.Blocks, res.Standing.Fields)})
	}
	return out
}

// fieldFigures makes the figures of a field.
type fieldFigures struct {
	*compare.FieldResult
	looks map[string]plot.Look
}

// caption ends a caption with what all have in common.
func (f *fieldFigures) caption(begin, reference string) string {
	begin += fmt.Sprintf(" %d replicates of %d samples.", f.Replicates, f.Samples)
	if reference != "" {
		begin += fmt.Sprintf(" In each panel %s is blue.", reference)
	}
	return begin
}

// others returns the heuristics that have a panel: all that have runs but the reference.
func (f *fieldFigures) others() []*compare.Entry {
	return slices.DeleteFunc(slices.Clone(f.Entries[1:]), func(e *compare.Entry) bool { return len(e.Runs) == 0 })
}

// costsOf is what a heuristic costs and errs at each value of its knob.
func costsOf(e *compare.Entry) costCurve {
	c := costCurve{name: e.Heuristic.Name}
	for _, p := range e.Points {
		c.points = append(c.points, costPoint{p.Order, p.Seconds, p.Error, spreadOf(e, p)})
	}
	return c
}

// spreadOf is the standard deviation of the errors behind a mean.
func spreadOf(e *compare.Entry, p compare.Means) float64 {
	return deviation(e.Of(p.Value, func(r compare.Trial) float64 { return r.Error }))
}

// costs shows error against cost.
func (f *fieldFigures) costs(byTime bool) *plot.Picture {
	measure, rules := compare.ErrorAtOrder, f.Levels
	if byTime {
		measure, rules = compare.ErrorAtTime, nil
	}
	var others []costCurve
	for _, e := range f.others() {
		c := costsOf(e)
		c.remark = measure.Verdict(e.Compared[measure].Verdict)
		others = append(others, c)
	}
	p := costPicture(f.Task, costsOf(f.Reference()), others, f.looks, byTime, byTime)
	for _, pn := range p.Panels {
		pn.Rules = rules
	}
	return p
}

// costRows are the points.
func (f *fieldFigures) costRows() [][]string {
	rows := [][]string{strings.Fields("heuristic knob model_order error_percent training_seconds error_sd replicates")}
	for _, e := range f.Entries {
		for _, p := range e.Points {
			rows = append(rows, line(e.Heuristic.Name, p.Value, p.Order, p.Error, p.Seconds, spreadOf(e, p), p.Runs))
		}
	}
	return rows
}

// nearest returns the point of a heuristic whose largest model order is nearest to the
// middle one of those compared.
func (f *fieldFigures) nearest(e *compare.Entry) compare.Means {
	middle := f.Levels[len(f.Levels)/2]
	off := func(p compare.Means) float64 { return math.Abs(math.Log(p.PeakOrder / middle)) }
	return slices.MinFunc(e.Points, func(p, q compare.Means) int { return cmp.Compare(off(p), off(q)) })
}

// overStream is a heuristic's errors over the stream, of all replicates.
func (f *fieldFigures) overStream(e *compare.Entry) map[float64][]float64 {
	value, at := f.nearest(e).Value, make(map[float64][]float64)
	for _, r := range e.Runs {
		for i, s := range r.Samples {
			if r.Value == value {
				at[s] = append(at[s], r.Errors[i])
			}
		}
	}
	return at
}

// anytime shows error against samples.
func (f *fieldFigures) anytime() *plot.Picture {
	trace := func(e *compare.Entry, look plot.Look) plot.Trace {
		return plot.Trace{Look: look, Curve: deviated(f.overStream(e)), Deviation: true}
	}
	name := f.Reference().Heuristic.Name
	reference := f.looks[name].Of(referenceWidth)
	p := small(errorName(f.Task), false, len(f.others()))
	p.Legend = plot.Legend{plot.LineEntry(name, reference)}
	for _, e := range f.others() {
		p.Panels = append(p.Panels, &plot.Panel{
			Title: e.Heuristic.Name, Remark: "M " + compare.Number(f.nearest(e).PeakOrder),
			Traces: []plot.Trace{trace(f.Reference(), reference), trace(e, f.looks[e.Heuristic.Name].Of(ownWidth))},
		})
	}
	return p
}

// anytimeRows are the curves that are shown.
func (f *fieldFigures) anytimeRows() [][]string {
	rows := [][]string{strings.Fields("heuristic knob samples mean_error_percent error_sd")}
	for _, e := range append([]*compare.Entry{f.Reference()}, f.others()...) {
		at := f.overStream(e)
		for _, x := range slices.Sorted(maps.Keys(at)) {
			rows = append(rows, line(e.Heuristic.Name, f.nearest(e).Value, strconv.FormatFloat(x, 'f', -1, 64), mean(at[x]), deviation(at[x])))
		}
	}
	return rows
}

// fronts shows what no other run beats: two panels whose x axes differ.
func (f *fieldFigures) fronts() *plot.Picture {
	point := func(look plot.Look, x, y, sd float64) plot.Trace {
		return plot.Trace{Look: look, Deviation: true, Dots: true, Cut: true, Curve: []plot.Sample{{X: x, Mean: y, Low: y - sd, High: y + sd}}}
	}
	grey := plot.Look{Color: plot.RGB(0xc4, 0xc4, 0xc4), Marker: heuristicMarkers[0]}
	p := &plot.Picture{Height: plot.PanelHeight, YLabel: errorName(f.Task), LogX: true, OwnX: true, Columns: 2}
	var shown []string
	for _, byTime := range []bool{false, true} {
		at := func(m compare.Means) float64 { return costPoint{order: m.Order, seconds: m.Seconds}.x(byTime) }
		edge := plot.Trace{Look: plot.Look{Color: plot.RGB(0x88, 0x88, 0x88), Width: 0.6}}
		var points []plot.Trace
		for _, e := range f.Entries {
			for _, m := range e.Points {
				points = append(points, point(grey, at(m), m.Error, 0))
			}
		}
		for _, best := range f.Front(byTime) {
			look := f.looks[best.Heuristic]
			points = append(points, point(look, at(best.Means), best.Error, spreadOf(f.Entry(best.Heuristic), best.Means)))
			edge.Curve = append(edge.Curve, plot.Single(at(best.Means), best.Error))
			if !slices.Contains(shown, best.Heuristic) {
				shown = append(shown, best.Heuristic)
				p.Legend = append(p.Legend, plot.IconEntry(best.Heuristic, look.Mark))
			}
		}
		if len(edge.Curve) > 1 {
			points = slices.Insert(points, 0, edge)
		}
		p.Panels = append(p.Panels, &plot.Panel{XLabel: costLabel(byTime), Traces: points})
	}
	return p
}

// frontRows are the fronts.
func (f *fieldFigures) frontRows() [][]string {
	rows := [][]string{strings.Fields("front heuristic knob model_order error_percent training_seconds")}
	for _, byTime := range []bool{false, true} {
		name := "order"
		if byTime {
			name = "time"
		}
		for _, p := range f.Front(byTime) {
			rows = append(rows, line(name, p.Heuristic, p.Value, p.Order, p.Error, p.Seconds))
		}
	}
	return rows
}

// ranks is a critical-difference diagram (Demšar, JMLR 7, 2006): names on a
// scale of mean ranks, bars below it that join what is not distinguishable.
type ranks struct {
	standing  *compare.Standing
	reference string
}

// Measures of a critical-difference diagram.
const (
	ranksEdge = vg.Length(110) // for names on either side
	ranksHead = vg.Length(38)
	ranksRow  = vg.Length(12)
	ranksBar  = vg.Length(5)
)

// cliques are the groups that bars join.
func (r *ranks) cliques() [][2]int { return stats.Cliques(r.standing.Mean, r.standing.CD) }

// foot is the height of the bars.
func (r *ranks) foot() vg.Length { return 6 + ranksBar*vg.Length(len(r.cliques())) }

// Size is the size in print.
func (r *ranks) Size() (w, h vg.Length) {
	half := (len(r.standing.Names) + 1) / 2
	return plot.Width, ranksHead + r.foot() + ranksRow*vg.Length(half) + 8
}

// x is where a mean rank is drawn.
func (r *ranks) x(rank float64) vg.Length {
	k := float64(len(r.standing.Names))
	return ranksEdge + (plot.Width-2*ranksEdge)*vg.Length((rank-1)/(k-1))
}

// Draw draws the scale, the bars and the names.
func (r *ranks) Draw(c draw.Canvas) {
	axis := c.Max.Y - ranksHead
	r.drawScale(c, axis)
	for i, clique := range r.cliques() {
		y := axis - 6 - ranksBar*vg.Length(i)
		c.StrokeLine2(draw.LineStyle{Color: plot.RGB(0, 0, 0), Width: 2.2},
			r.x(r.standing.Mean[clique[0]])-2, y, r.x(r.standing.Mean[clique[1]])+2, y)
	}
	n := len(r.standing.Names)
	half := (n + 1) / 2
	for i, name := range r.standing.Names {
		line, right := i, i >= half
		if right {
			line = n - 1 - i
		}
		r.drawName(c, name, r.standing.Mean[i], axis, axis-r.foot()-ranksRow*(vg.Length(line)+0.5), right)
	}
}

// drawName leads from a mean rank on the axis to its name at the left or right
// edge.
func (r *ranks) drawName(c draw.Canvas, name string, rank float64, axis, y vg.Length, right bool) {
	edge, align := ranksEdge-12, draw.XRight
	gap := vg.Length(-3)
	if right {
		edge, align, gap = plot.Width-ranksEdge+12, draw.XLeft, 3
	}
	ink := plot.RGB(0x55, 0x55, 0x55)
	if name == r.reference {
		ink = lookOf("polk", 0).Color
	}
	x := r.x(rank)
	c.StrokeLines(draw.LineStyle{Color: ink, Width: 0.7}, []vg.Point{{X: x, Y: axis}, {X: x, Y: y}, {X: edge, Y: y}})
	sty := plot.Letters(plot.LabelSize, align, draw.YCenter)
	sty.Color = ink
	if name != r.reference {
		sty.Color = plot.RGB(0, 0, 0)
	}
	plot.FillMiddle(c, sty, vg.Point{X: edge + gap, Y: y}, fmt.Sprintf("%s  %.1f", plot.Plain(name), rank))
}

// drawScale draws the axis and, above it, the critical difference.
func (r *ranks) drawScale(c draw.Canvas, y vg.Length) {
	line := draw.LineStyle{Color: plot.RGB(0, 0, 0), Width: 0.6}
	k := len(r.standing.Names)
	c.StrokeLine2(line, r.x(1), y, r.x(float64(k)), y)
	for i := 1; i <= k; i++ {
		x := r.x(float64(i))
		c.StrokeLine2(line, x, y, x, y+3)
		c.FillText(plot.Letters(plot.TickSize, draw.XCenter, draw.YBottom), vg.Point{X: x, Y: y + 4}, strconv.Itoa(i))
	}
	top := y + 20
	end := r.x(1 + min(r.standing.CD, float64(k-1)))
	c.StrokeLine2(line, r.x(1), top, end, top)
	for _, x := range []vg.Length{r.x(1), end} {
		c.StrokeLine2(line, x, top-2.5, x, top+2.5)
	}
	c.FillText(plot.Letters(plot.TickSize, draw.XLeft, draw.YCenter), vg.Point{X: end + 5, Y: top}, fmt.Sprintf("CD = %.2f", r.standing.CD))
}

// rows are the mean ranks.
func (r *ranks) rows() [][]string {
	rows := [][]string{{"heuristic", "mean_rank", "blocks", "critical_difference"}}
	for i, name := range r.standing.Names {
		rows = append(rows, line(name, r.standing.Mean[i], r.standing.Blocks, r.standing.CD))
	}
	return rows
}
