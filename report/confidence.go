package report

import (
	"fmt"
	"strconv"

	"gonum.org/v1/plot/vg"

	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/record"
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
		c := &calibrations{series: b.ranked(func(p experiments.Planned) bool {
			return p.Run.Data.Name == name && p.Run.Task == experiments.TaskKLR && len(p.Cells) > 0
		}, func(r *record.Record) bool { return r.Final.Reliability != nil && len(r.Final.Reliability.Bins) > 0 })}
		if len(c.series) == 0 {
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
			content: c,
		})
	}
	return out
}

// calibrations are the contents of a figure of calibration.
type calibrations struct{ series []*Series }

func (c *calibrations) drawing() drawing {
	reliability := panel{tag: "(a)", xlabel: "confidence", ylabel: "accuracy", xmax: 1}
	errors := panel{tag: "(b)", xlabel: "model order M", ylabel: "calibration error (%)", log: true}
	losses := panel{tag: "(c)", xlabel: "model order M", ylabel: "log loss (nats)", log: true}
	p := &picture{}
	for _, s := range c.series {
		lk := s.look()
		reliability.traces = append(reliability.traces, trace{look: lk, curve: diagram(s.Runs)})
		p.legend = append(p.legend, lineEntry(plainLetters(s.Label), lk))
		if at := mean(s.values(lastOrder)); at > 0 {
			errors.traces = append(errors.traces, trace{look: lk, curve: []sample{single(at, mean(s.values(calibrationError)))}})
			losses.traces = append(losses.traces, trace{look: lk, curve: []sample{single(at, mean(s.values(logLoss)))}})
		}
	}
	for _, pn := range []*panel{&errors, &losses} {
		pn.span()
		pn.xmin, pn.xmax = pn.xmin/2, 2*pn.xmax
	}
	diagonal := look{color: rgb(0x88, 0x88, 0x88), dash: []vg.Length{3, 2}, width: 0.8}
	reliability.traces = append(reliability.traces, trace{look: diagonal, curve: []sample{single(0, 0), single(1, 1)}})
	p.legend = append(p.legend, lineEntry("confidence = accuracy", diagonal))
	p.panels = []panel{reliability, errors, losses}
	return p
}

func lastOrder(r *record.Record) float64 { return float64(r.Points[len(r.Points)-1].ModelOrder) }
func logLoss(r *record.Record) float64   { return r.Final.Reliability.LogLoss }
func calibrationError(r *record.Record) float64 {
	return 100 * r.Final.Reliability.CalibrationError
}

// diagram is the accuracy over the mean confidence in each bin, of the test examples of all
// runs.
func diagram(runs []*record.Record) []sample {
	var out []sample
	for i := range record.ReliabilityBins {
		var n, confidence, accuracy float64
		for _, r := range runs {
			b := r.Final.Reliability.Bins[i]
			n += float64(b.Count)
			confidence += float64(b.Count) * b.Confidence
			accuracy += float64(b.Count) * b.Accuracy
		}
		if n >= leastInBin {
			out = append(out, single(confidence/n, accuracy/n))
		}
	}
	return out
}

// rows are the bins of all runs.
func (c *calibrations) rows() [][]string {
	rows := [][]string{{"series", "seed", "draw", "model_order", "log_loss", "calibration_error_percent", "bin", "count", "confidence", "accuracy"}}
	for _, s := range c.series {
		for _, r := range s.Runs {
			run := r.Header.Run
			for i, b := range r.Final.Reliability.Bins {
				rows = append(rows, []string{s.Label, strconv.FormatUint(run.Seed, 10), strconv.FormatUint(run.Data.Draw, 10), words.Exact(lastOrder(r)),
					words.Exact(logLoss(r)), words.Exact(calibrationError(r)), strconv.Itoa(i + 1), strconv.Itoa(b.Count), words.Exact(b.Confidence), words.Exact(b.Accuracy)})
			}
		}
	}
	return rows
}
