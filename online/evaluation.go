package online

import (
	"math"

	"polkrepro/loss"
)

// CalibrationBins is the number of bins of equal width, from 0 to 1, that
// predictions are sorted into by their confidence.
const CalibrationBins = 10

// A ClassResult is how well a model does on one class.
type ClassResult struct {
	Label     string
	Rows      int // of the class
	Predicted int // rows given the class
	Correct   int // rows of the class that were given it
}

// Recall returns the fraction of the class's rows that were given it; NaN if there
// are none. The error rate of the class is 1 less this.
func (c ClassResult) Recall() float64 { return float64(c.Correct) / float64(c.Rows) }

// Precision returns the fraction of the rows given the class that are of it; NaN
// if there are none.
func (c ClassResult) Precision() float64 { return float64(c.Correct) / float64(c.Predicted) }

// A Bin holds the rows whose predicted class has a probability, the confidence,
// from From to below To, or up to 1.
type Bin struct {
	From, To   float64
	Rows       int
	Confidence float64 // mean; NaN without rows
	Accuracy   float64 // fraction of the rows that were given their class; NaN without rows
}

// Classes returns the result of every class, in the order of the model's labels;
// nil for regression.
func (e *Evaluation) Classes() []ClassResult {
	var out []ClassResult
	for i, row := range e.Confusion {
		c := ClassResult{Label: e.Labels[i], Correct: row[i]}
		for j, n := range row {
			c.Rows += n
			c.Predicted += e.Confusion[j][i]
		}
		out = append(out, c)
	}
	return out
}

// A tally counts what a classifier's results are made of.
type tally struct {
	confusion [][]int
	logLoss   float64 // sum
	bins      [CalibrationBins]struct {
		rows, correct int
		confidence    float64 // sum
	}
	p []float64
}

func newTally(classes int) tally {
	t := tally{confusion: make([][]int, classes), p: make([]float64, classes)}
	for i := range t.confusion {
		t.confusion[i] = make([]int, classes)
	}
	return t
}

// add counts a row of a class that was given another one, or the same, by scores f
// with a loss's value for its target.
func (t *tally) add(class, given int, l loss.Loss, f []float64, value float64) {
	t.confusion[class][given]++
	prob, ok := l.(loss.Probabilistic)
	if !ok {
		return
	}
	t.logLoss += value // −ln p, without the overflow of p
	prob.Probabilities(t.p, f)
	confidence := t.p[given]
	b := &t.bins[max(0, min(int(confidence*CalibrationBins), CalibrationBins-1))]
	b.rows++
	b.confidence += confidence
	if class == given {
		b.correct++
	}
}

// result writes what was counted of n rows to e. The calibration error is
// Σ_b n_b/n·|accuracy_b − confidence_b| over the bins.
func (t *tally) result(e *Evaluation, n float64, l loss.Loss) {
	e.Confusion = t.confusion
	if _, ok := l.(loss.Probabilistic); !ok {
		return
	}
	e.LogLoss, e.CalibrationError = t.logLoss/n, 0
	for i, b := range t.bins {
		rows := float64(b.rows)
		bin := Bin{float64(i) / CalibrationBins, float64(i+1) / CalibrationBins, b.rows, b.confidence / rows, float64(b.correct) / rows}
		e.Calibration = append(e.Calibration, bin)
		if b.rows > 0 {
			e.CalibrationError += rows / n * math.Abs(bin.Accuracy-bin.Confidence)
		}
	}
}
