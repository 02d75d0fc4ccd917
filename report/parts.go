package report

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"gonum.org/v1/plot/vg"

	"polkrepro/paper"
	"polkrepro/record"
	"polkrepro/report/plot"
	"polkrepro/spec"
)

// A Part is a section of a report, or of its page, beside the paper's tables and figures. Empty
// fields are left out.
type Part struct {
	ID         string // anchor, unique on the page: online
	Title      string
	Paragraphs []string
	Tables     []*Table // shown only on a page; each has a header and rows
	Figures    []*Figure
}

// parts returns the parts of a report about the paper for which there are records.
func (b *builder) parts() []*Part {
	return shown(onlinePart(b.online()),
		&Part{ID: "confidence", Title: "What pruning does to the confidence", Paragraphs: []string{confidenceText}, Figures: b.confidence()},
		&Part{ID: "error-and-size", Title: "Error against size", Paragraphs: []string{sizesText}, Figures: b.sizes()},
		&Part{ID: "passes", Title: "Which number of passes?", Paragraphs: []string{passesText}, Figures: b.passes()})
}

// shown returns the parts that have figures.
func shown(parts ...*Part) []*Part {
	return slices.DeleteFunc(parts, func(s *Part) bool { return len(s.Figures) == 0 })
}

// onlinePart is the part on learning online.
func onlinePart(figures []*Figure) *Part {
	return &Part{ID: "online", Title: "Learning online: prequential error and regret", Paragraphs: []string{onlineText}, Figures: figures}
}

// allFigures returns the report's figures, then those of its parts.
func (r *Report) allFigures() []*Figure {
	out := slices.Clone(r.Figures)
	for _, s := range r.Parts {
		out = append(out, s.Figures...)
	}
	return out
}

// ranked gives each series its rank among those of its method and task. It keeps the records that
// have evaluations and for which keep returns true, and drops series without any.
func ranked(all []*Series, keep func(*record.Record) bool) []*Series {
	for i, s := range all {
		if i > 0 && all[i-1].Run.Method == s.Run.Method && all[i-1].Run.Task == s.Run.Task {
			s.Rank = all[i-1].Rank + 1
		}
		s.Runs = slices.DeleteFunc(s.Runs, func(r *record.Record) bool { return len(r.Points) == 0 || !keep(r) })
	}
	return slices.DeleteFunc(all, func(s *Series) bool { return len(s.Runs) == 0 })
}

const confidenceText = "A Multi-Logistic model gives each class a probability, of which the paper draws the contours in Figure 3b. " +
	"The confidence is the largest of these probabilities. A model is calibrated if it classifies a fraction p of the test samples with confidence p correctly. " +
	"Pruning moves the scores by at most the budget at each step, but all steps together may move the confidence."

// leastInBin is the minimum number of test examples, over all runs, in a bin that is drawn.
const leastInBin = 20

// confidence makes the figures of the calibration of Multi-Logistic models, one for each
// data set of the paper's tables.
func (b *builder) confidence() (out []*Figure) {
	for _, name := range sortedKeys(b.paper.Data) {
		series := ranked(b.series(func(p spec.Planned) bool {
			return p.Run.Data.Name == name && p.Run.Task == spec.TaskKLR && len(p.Cells) > 0
		}), func(r *record.Record) bool { return r.Final.Reliability != nil && len(r.Final.Reliability.Bins) > 0 })
		if len(series) == 0 {
			continue
		}
		out = append(out, &Figure{
			Name:  "confidence-" + name,
			Title: "Confidence of Multi-Logistic models on " + name,
			Caption: fmt.Sprintf("(a) Reliability of the runs' last models: accuracy on the test samples of a bin of confidence against their mean confidence, "+
				"in %d bins of equal width; above the diagonal a model is less confident than it is right, below it more. "+
				"Bins with fewer than %d samples over all runs are not drawn. (b) Expected calibration error: the mean distance from the diagonal, "+
				"each bin weighted by its samples, and (c) log loss, the mean of −log P(y | x), both against the model order of the last model; "+
				"means over runs. L-BFGS keeps all training samples.", record.ReliabilityBins, leastInBin),
			Drawing: calibrationPicture(series),
		})
	}
	return out
}

// calibrationPicture lays a figure of calibration out.
func calibrationPicture(series []*Series) *plot.Picture {
	reliability := &plot.Panel{Title: "(a)", XLabel: "confidence", YLabel: "accuracy", XMax: 1, Traces: traces(series, diagram)}
	byOrder := func(title, label string, of func(*record.Record) float64) *plot.Panel {
		pn := &plot.Panel{Title: title, XLabel: "model order M", YLabel: label, LogY: true, Traces: traces(series, func(s *Series) []plot.Sample {
			if at := mean(s.values(finalOrder)); at > 0 {
				return []plot.Sample{plot.Single(at, mean(s.values(of)))}
			}
			return nil
		})}
		pn.Span()
		pn.XMin, pn.XMax = pn.XMin/2, 2*pn.XMax
		return pn
	}
	p := &plot.Picture{Legend: legendOf(series), Panels: []*plot.Panel{
		reliability,
		byOrder("(b)", "calibration error (%)", func(r *record.Record) float64 { return 100 * r.Final.Reliability.CalibrationError }),
		byOrder("(c)", "log loss (nats)", func(r *record.Record) float64 { return r.Final.Reliability.LogLoss }),
	}}
	diagonal := plot.Look{Color: plot.RGB(0x88, 0x88, 0x88), Dash: []vg.Length{3, 2}, Width: 0.8}
	const perfect = "confidence = accuracy"
	reliability.Traces = append(reliability.Traces, plot.Trace{Label: perfect, Look: diagonal, Curve: []plot.Sample{plot.Single(0, 0), plot.Single(1, 1)}})
	p.Legend = append(p.Legend, plot.LineEntry(perfect, diagonal))
	return p
}

// diagram returns the accuracy against the mean confidence of each bin, over the test examples of
// all runs of a series.
func diagram(s *Series) []plot.Sample {
	var out []plot.Sample
	for i := range record.ReliabilityBins {
		var n, confidence, accuracy float64
		for _, r := range s.Runs {
			b := r.Final.Reliability.Bins[i]
			n += float64(b.Count)
			confidence += float64(b.Count) * b.Confidence
			accuracy += float64(b.Count) * b.Accuracy
		}
		if n >= leastInBin {
			out = append(out, plot.Single(confidence/n, accuracy/n))
		}
	}
	return out
}

const onlineText = "A method that learns from a stream is tested on each sample before it learns from it. " +
	"The cumulative error of these tests is the prequential error. Its regret is the cumulative loss of the same tests, with the regularizer, " +
	"less that of the minimizer f* of the objective, as L-BFGS has certified it on the same training data."

// online makes the figures of prequential error and regret: one for each of the paper's
// figures of curves.
func (b *builder) online() (out []*Figure) {
	for _, pf := range b.paper.Figures {
		all := b.series(func(p spec.Planned) bool {
			return pf.Kind == paper.FigureCurves && slices.Contains(p.Figures, pf.ID)
		})
		if f := b.onlineFigure("online-"+pf.Data+"-"+pf.Task, pf.Data, all); f != nil {
			out = append(out, f)
		}
	}
	return out
}

// onlineFigure makes the figure of series. It returns nil if no run has the data for it.
func (b *builder) onlineFigure(name, data string, all []*Series) *Figure {
	series := ranked(all, func(r *record.Record) bool { return r.Points[len(r.Points)-1].Prequential != nil })
	if len(series) == 0 {
		return nil
	}
	b.distinct(series)
	wrong := &plot.Panel{Title: "(a)", YLabel: errorOf(series[0].Run.Task).prequential, LogY: true, Traces: traces(series, func(s *Series) []plot.Sample {
		return average(s.Runs, prequentialError)
	})}
	wrong.Span()
	p := &plot.Picture{Panels: []*plot.Panel{wrong}, Legend: legendOf(series)}
	caption := "(a) Error on the samples so far, each tested before its mini-batch was learned. "
	stars := b.records(b.planned(func(p spec.Planned) bool { return p.Run.Method == "lbfgs" }))
	regret := &plot.Panel{Title: "(b)", YLabel: "regret", LogY: true}
	gap := -1.0
	regret.Traces = traces(series, func(s *Series) []plot.Sample {
		curve, off := regretCurve(s, stars)
		gap = max(gap, off)
		return curve
	})
	if gap < 0 {
		caption += "The regret is not shown: L-BFGS has no record on these data in this profile. "
	} else {
		caption += fmt.Sprintf("(b) Regret: the cumulative loss of the same tests and the cumulative regularizer (λ/2)Σ‖f‖², less t·R(f*). "+
			"R(f*) is the objective of L-BFGS on all training examples, the same that the stream visits, whatever subset the training risk of other figures is taken on; "+
			"the minimum is at most %.2g %% below it; the band reaches to the regret against that minimum. "+
			"The sum of losses is exact. t·R(f*) is the cost of f* on the same samples at the end of each pass, and its expectation between; "+
			"the regularizer is summed by the trapezoidal rule over the evaluations. ", 100*gap)
		regret.Span()
		if root, ok := rootLine(regret); ok {
			regret.Traces = append(regret.Traces, root)
			p.Legend = append(p.Legend, plot.LineEntry(root.Label, root.Look))
		}
		p.Panels = append(p.Panels, regret)
	}
	p.Explain("", "")
	return &Figure{
		Name: name, Title: fmt.Sprintf("Prequential error and regret. %s on %s", taskTitle(series[0].Run.Task), data),
		Caption: caption + linesAre + "." + undrawn(p), Drawing: p,
	}
}

// regretCurve returns the mean regret of a series over its runs, each against the minimizer of its own
// objective, as a run of L-BFGS has it. Of several of these, some of which stop early, it takes the
// one with the smallest duality gap. The band reaches up to the largest regret that results if the
// minimum is the whole gap below that objective. off is the largest gap as a fraction of the
// objective, -1 if no run of L-BFGS matches.
func regretCurve(s *Series, stars []*record.Record) (curve []plot.Sample, off float64) {
	off = -1
	least, most := make(map[int][]float64), make(map[int][]float64)
	for _, r := range s.Runs {
		run := r.Header.Run
		objective, gap := 0.0, math.Inf(1)
		for _, star := range stars {
			of, health := star.Header.Run, star.Final.Health
			if of.Data == run.Data && of.Task == run.Task &&
				reflect.DeepEqual(of.Params.Kernel, run.Params.Kernel) && of.Params.Regularizer == run.Params.Regularizer &&
				health["objective"] > 0 && health["gap"] >= 0 && health["gap"] < gap {
				objective, gap = health["objective"], health["gap"]
			}
		}
		if math.IsInf(gap, 1) {
			continue
		}
		off = max(off, gap/objective)
		for i, v := range regrets(r, objective) {
			t := r.Points[i].Samples
			least[t], most[t] = append(least[t], v), append(most[t], v+float64(t)*gap)
		}
	}
	curve = averaged(least)
	for i, s := range curve {
		curve[i].High = slices.Max(most[int(s.X)])
	}
	return curve, off
}

// regrets returns, for each point of a run,
//
//	Σ_{s≤t} (ℓ(f_s(x_s), y_s) + (λ/2)·Σ_c‖f_{s,c}‖²) − t·R(f*).
//
// The sum of the losses is exact. The sum of the squared norms, which are known only at the
// points, is taken by the trapezoidal rule. A pass visits each example once, so t·R(f*) is the
// cost of f* on the same samples at the end of each pass; in between it is the expectation of
// that cost. The regret is NaN at a point without the loss or the norm.
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

// rootLine returns a line of slope 1/2 below the curves of a logarithmic panel, and false if none
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
	return plot.Trace{Label: "slope of the square root of T", Look: look, Curve: []plot.Sample{at(p.XMin), at(p.XMax)}}, true
}
