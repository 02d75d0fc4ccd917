package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"polkrepro/experiments"
	"polkrepro/record"
	"polkrepro/report/plot"
)

const confidenceText = "A Multi-Logistic model gives each class a probability, of which the paper draws the contours in Figure 3b. " +
	"A model is calibrated if of the test samples with confidence p, the largest of the probabilities, a fraction p is classified correctly. " +
	"Pruning moves the scores by at most the budget at each step, but all steps together may move the confidence."

// leastInBin is the number of test examples, over all runs, from which on a bin is drawn.
const leastInBin = 20

// confidence makes the figures of the calibration of Multi-Logistic models, one for each
// data set of the paper's tables.
func (b *builder) confidence() (out []*Figure) {
	for _, name := range sortedKeys(b.paper.Data) {
		series := b.ranked(func(p experiments.Planned) bool {
			return p.Run.Data.Name == name && p.Run.Task == experiments.TaskKLR && len(p.Cells) > 0
		}, func(r *record.Record) bool { return r.Final.Reliability != nil && len(r.Final.Reliability.Bins) > 0 })
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
			Data:    func() [][]string { return calibrationRows(series) },
		})
	}
	return out
}

// calibrationPicture lays a figure of calibration out.
func calibrationPicture(series []*Series) *plot.Picture {
	reliability := &plot.Panel{Title: "(a)", XLabel: "confidence", YLabel: "accuracy", XMax: 1,
		Traces: traces(series, func(s *Series) []plot.Sample { return diagram(s.Runs) })}
	byOrder := func(title, label string, of func(*record.Record) float64) *plot.Panel {
		return &plot.Panel{Title: title, XLabel: "model order M", YLabel: label, LogY: true, Traces: traces(series, func(s *Series) []plot.Sample {
			if at := mean(s.values(finalOrder)); at > 0 {
				return []plot.Sample{plot.Single(at, mean(s.values(of)))}
			}
			return nil
		})}
	}
	errors, losses := byOrder("(b)", "calibration error (%)", calibrationError), byOrder("(c)", "log loss (nats)", logLoss)
	p := &plot.Picture{Panels: []*plot.Panel{reliability, errors, losses}, Legend: legendOf(series)}
	for _, pn := range []*plot.Panel{errors, losses} {
		pn.Span()
		pn.XMin, pn.XMax = pn.XMin/2, 2*pn.XMax
	}
	diagonal := plot.Look{Color: plot.RGB(0x88, 0x88, 0x88), Dash: []vg.Length{3, 2}, Width: 0.8}
	reliability.Traces = append(reliability.Traces, plot.Trace{Look: diagonal, Curve: []plot.Sample{plot.Single(0, 0), plot.Single(1, 1)}})
	p.Legend = append(p.Legend, plot.LineEntry("confidence = accuracy", diagonal))
	return p
}

func logLoss(r *record.Record) float64 { return r.Final.Reliability.LogLoss }
func calibrationError(r *record.Record) float64 {
	return 100 * r.Final.Reliability.CalibrationError
}

// diagram is the accuracy over the mean confidence in each bin, of the test examples of all
// runs.
func diagram(runs []*record.Record) []plot.Sample {
	var out []plot.Sample
	for i := range record.ReliabilityBins {
		var n, confidence, accuracy float64
		for _, r := range runs {
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

// calibrationRows are the bins of all runs.
func calibrationRows(series []*Series) [][]string {
	rows := [][]string{strings.Fields("series seed draw model_order log_loss calibration_error_percent bin count confidence accuracy")}
	for s, r := range runsOf(series) {
		for i, b := range r.Final.Reliability.Bins {
			rows = append(rows, s.line(r, finalOrder(r), logLoss(r), calibrationError(r), i+1, b.Count, b.Confidence, b.Accuracy))
		}
	}
	return rows
}

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
			rows = append(rows, append([]string{s.Run.Task}, s.line(r, p.Samples, p.Timing.CPU, 100*p.TestError)...))
		}
	}
	return rows
}
