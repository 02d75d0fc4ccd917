package report

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"polkrepro/experiments"
	"polkrepro/record"
	"polkrepro/report/plot"
)

const onlineText = "A method that learns from a stream is tested on each sample before it learns from it. " +
	"The cumulative error of these tests is the prequential error. Its regret is the cumulative loss of the same tests, with the regularizer, " +
	"less that of the minimizer f* of the objective, as L-BFGS has certified it on the same training data."

// online makes the figures of prequential error and regret: one for each of the paper's
// figures of curves.
func (b *builder) online() (out []*Figure) {
	for _, pf := range b.paper.Figures {
		if pf.Kind != experiments.FigureCurves {
			continue
		}
		f, _ := b.onlineFigure(pf.Data, pf.Task,
			func(p experiments.Planned) bool { return slices.Contains(p.Figures, pf.ID) },
			func(p experiments.Planned) bool { return p.Run.Data.Name == pf.Data && p.Run.Task == pf.Task })
		if f != nil {
			out = append(out, f)
		}
	}
	return out
}

// onlineFigure makes the figure of the runs that fit, with the regrets against L-BFGS among
// others, and their series; nil if no run has data for it.
func (b *builder) onlineFigure(data, task string, fits, others func(experiments.Planned) bool) (*Figure, []*Series) {
	o := &onlineCurves{task: task, regrets: make(map[*record.Record][]float64), slack: make(map[*record.Record]float64)}
	o.series = b.ranked(fits, func(r *record.Record) bool { return r.Points[len(r.Points)-1].Prequential != nil })
	if len(o.series) == 0 {
		return nil, nil
	}
	stars := b.records(b.planned(func(p experiments.Planned) bool { return p.Run.Method == "lbfgs" && others(p) }))
	for _, s := range o.series {
		for _, r := range s.Runs {
			o.against(r, stars)
		}
	}
	b.distinct(o.series)
	return &Figure{
		Name:    "online-" + data + "-" + task,
		Title:   fmt.Sprintf("Prequential error and regret. %s on %s", taskTitle(task), data),
		Caption: o.caption(), Drawing: o.picture(), Data: o.rows,
	}, o.series
}

// onlineCurves are the contents of a figure of prequential error and regret.
type onlineCurves struct {
	task    string
	series  []*Series
	regrets map[*record.Record][]float64 // at its points, against L-BFGS' objective; none where there is no L-BFGS
	slack   map[*record.Record]float64   // by how much a sample the objective may be above the minimum
	gap     float64                      // the largest slack as a fraction of the objective
}

// against computes the regrets of a run against the minimizer of its own objective: of
// several runs of L-BFGS, some stopped early, the one with the smallest gap.
func (o *onlineCurves) against(r *record.Record, stars []*record.Record) {
	run := r.Header.Run
	objective, gap := 0.0, math.Inf(1)
	for _, s := range stars {
		of, health := s.Header.Run, s.Final.Health
		if of.Data == run.Data && reflect.DeepEqual(of.Params.Kernel, run.Params.Kernel) && of.Params.Regularizer == run.Params.Regularizer &&
			health["objective"] > 0 && health["gap"] >= 0 && health["gap"] < gap {
			objective, gap = health["objective"], health["gap"]
		}
	}
	if math.IsInf(gap, 1) {
		return
	}
	o.regrets[r], o.slack[r] = regrets(r, objective), gap
	o.gap = max(o.gap, gap/objective)
}

// regrets returns, for each point of a run,
//
//	Σ_{s≤t} (ℓ(f_s(x_s), y_s) + (λ/2)·Σ_c‖f_{s,c}‖²) − t·R(f*).
//
// The sum of the losses is exact. That of the squared norms, which are known at the points
// alone, is the trapezoidal rule's. t·R(f*) is what f* costs on the same samples at the end
// of each pass, which visits each example once, and its expectation between.
func regrets(r *record.Record, objective float64) []float64 {
	half := r.Header.Run.Params.Regularizer / 2
	out := make([]float64, len(r.Points))
	norms, last, before := 0.0, 0.0, 0
	for i, p := range r.Points {
		if p.Prequential == nil || p.NormSq == nil {
			out[i] = math.NaN()
			continue
		}
		norms += (last + *p.NormSq) / 2 * float64(p.Samples-before)
		last, before = *p.NormSq, p.Samples
		out[i] = float64(p.Samples)*(p.Prequential.Loss-objective) + half*norms
	}
	return out
}

func (o *onlineCurves) picture() *plot.Picture {
	wrong := &plot.Panel{Title: "(a)", YLabel: prequentialName(o.task), LogY: true, Traces: traces(o.series, func(s *Series) []plot.Sample {
		return average(s.Runs, prequentialError)
	})}
	wrong.Span()
	p := &plot.Picture{Panels: []*plot.Panel{wrong}, Legend: legendOf(o.series)}
	if len(o.regrets) > 0 {
		regret := &plot.Panel{Title: "(b)", YLabel: "regret", LogY: true, Traces: traces(o.series, o.curve)}
		regret.Span()
		if root, ok := rootLine(regret); ok {
			regret.Traces = append(regret.Traces, root)
			p.Legend = append(p.Legend, plot.LineEntry("slope of the square root of T", root.Look))
		}
		p.Panels = append(p.Panels, regret)
	}
	if p.Spread() {
		p.Legend = append(p.Legend, plot.BandEntry())
	}
	return p
}

// prequentialName is what axes call the prequential error of a task.
func prequentialName(task string) string {
	if task == experiments.TaskRegression {
		return "prequential RMSE (% of deviation)"
	}
	return "prequential error (%)"
}

func prequentialError(p record.Point) float64 {
	if p.Prequential == nil {
		return math.NaN()
	}
	return 100 * p.Prequential.Error
}

// curve is the mean regret of a series over its runs; the band reaches to what the largest
// would be if the minimum were the whole gap below L-BFGS' objective.
func (o *onlineCurves) curve(s *Series) []plot.Sample {
	least, most := make(map[int][]float64), make(map[int][]float64)
	for _, r := range s.Runs {
		for i, v := range o.regrets[r] {
			t := r.Points[i].Samples
			least[t], most[t] = append(least[t], v), append(most[t], v+float64(t)*o.slack[r])
		}
	}
	out := averaged(least)
	for i, s := range out {
		out[i].High = slices.Max(most[int(s.X)])
	}
	return out
}

// rootLine is a line of slope 1/2 below the curves of a logarithmic panel, false if none
// can be drawn.
func rootLine(p *plot.Panel) (plot.Trace, bool) {
	factor := math.Inf(1)
	for _, t := range p.Traces {
		for _, s := range t.Curve {
			if s.Mean > 0 {
				factor = min(factor, s.Mean/math.Sqrt(s.X))
			}
		}
	}
	if math.IsInf(factor, 1) || !p.LogX {
		return plot.Trace{}, false
	}
	at := func(x float64) plot.Sample { return plot.Single(x, factor*math.Sqrt(x)) }
	look := plot.Look{Color: plot.RGB(0x55, 0x55, 0x55), Dash: []vg.Length{1, 1.5}, Width: 0.8}
	return plot.Trace{Look: look, Curve: []plot.Sample{at(p.XMin), at(p.XMax)}}, true
}

func (o *onlineCurves) caption() string {
	text := "(a) Error on the samples so far, each tested before its mini-batch was learned. "
	if len(o.regrets) == 0 {
		text += "The regret is not shown: L-BFGS has no record on these data in this profile. "
	} else {
		text += fmt.Sprintf("(b) Regret: the cumulative loss of the same tests and the cumulative regularizer (λ/2)Σ‖f‖², less t·R(f*). "+
			"R(f*) is the objective of L-BFGS on all training examples, the same that the stream visits, whatever subset the training risk of other figures is taken on; "+
			"the minimum is at most %.2g %% below it, and the band reaches to the regret against that. "+
			"The sum of losses is exact. t·R(f*) is the cost of f* on the same samples at the end of each pass, and its expectation between; "+
			"the regularizer is summed by the trapezoidal rule over the evaluations. ", 100*o.gap)
		if n := o.undrawn(); n > 0 {
			text += fmt.Sprintf("%d regrets that are not positive are not drawn. ", n)
		}
	}
	return text + "Lines are means over runs, bands reach from the least to the greatest."
}

// undrawn counts the regrets that have no place on a logarithmic axis.
func (o *onlineCurves) undrawn() (n int) {
	for _, r := range runsOf(o.series) {
		for _, v := range o.regrets[r] {
			if !(v > 0) {
				n++
			}
		}
	}
	return n
}

// rows are the points of all runs.
func (o *onlineCurves) rows() [][]string {
	rows := [][]string{strings.Fields("series seed draw samples prequential_error_percent prequential_loss norm_sq regret regret_slack")}
	for s, r := range runsOf(o.series) {
		for i, p := range r.Points {
			if p.Prequential == nil || p.NormSq == nil {
				continue
			}
			row := s.line(r, p.Samples, prequentialError(p), p.Prequential.Loss, *p.NormSq, "", "")
			if v := o.regrets[r]; v != nil {
				copy(row[7:], line(v[i], float64(p.Samples)*o.slack[r]))
			}
			rows = append(rows, row)
		}
	}
	return rows
}
