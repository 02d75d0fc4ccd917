package online

import (
	"context"
	"fmt"
	"math"

	"polkrepro/data/rows"
	"polkrepro/loss"
)

// An Evaluation is how well a model does on labelled rows.
type Evaluation struct {
	Rows      int
	Risk      float64 // mean loss, of scaled targets for regression
	ErrorRate float64 // fraction of rows given another class
	RMSE      float64 // of regression, in the units of the file
	R2        float64 // 1 − Σ(prediction − y)²/Σ(y − mean of y)²; NaN if all y are the same
	MAE       float64 // mean |prediction − y| of regression, in the units of the file

	// Of classification.
	Labels    []string // of the classes, in the order of Confusion
	Confusion [][]int  // rows of class i that were given class j

	// Of a loss with probabilities; NaN and nil of others.
	LogLoss          float64 // mean −ln of the probability of a row's class
	CalibrationError float64 // expected |accuracy − confidence|, over the bins
	Calibration      []Bin   // CalibrationBins of them
}

// Evaluate compares the model's predictions with the labels of a source.
func (m *Model) Evaluate(ctx context.Context, src Source, format string) (Evaluation, error) {
	e := evaluator{m: m, tally: newTally(len(m.settings.Labels))}
	err := m.each(ctx, src, format, true, e.add, func() error { return nil })
	if err == nil && e.n == 0 {
		err = fmt.Errorf("%s: no rows", src.name())
	}
	if err != nil {
		return Evaluation{}, err
	}
	return e.result(), nil
}

// An evaluator sums up what an Evaluation is made of.
type evaluator struct {
	m                 *Model
	n, wrong          int
	risk, squares     float64
	absolute          float64
	tally             tally
	mean, aroundMean2 float64 // of y, by Welford's recurrence
}

func (e *evaluator) add(f []float64, row *rows.Row) error {
	y, err := e.m.target(row)
	if err == nil {
		err = e.m.finiteScores(f)
	}
	if err != nil {
		return err
	}
	value := e.m.loss.Value(f, y)
	e.n++
	if e.risk += value; e.risk-e.risk != 0 {
		return fmt.Errorf("the loss of the prediction %.3g is too large to add up", f[0])
	}
	if !e.m.settings.regression() {
		class, given := e.m.classOf(y), e.m.class(f)
		if given != class {
			e.wrong++
		}
		e.tally.add(class, given, e.m.loss, f, value)
		return nil
	}
	v, err := number(row.Label)
	d := e.m.value(f) - v
	if e.squares += float64(d * d); e.squares-e.squares != 0 {
		return fmt.Errorf("the squared error of the prediction %.3g is too large to add up", e.m.value(f))
	}
	e.absolute += math.Abs(d)
	step := v - e.mean
	e.mean += step / float64(e.n)
	e.aroundMean2 += float64(step * (v - e.mean))
	return err
}

func (e *evaluator) result() Evaluation {
	n := float64(e.n)
	r2 := math.NaN()
	if e.aroundMean2 > 0 {
		r2 = 1 - e.squares/e.aroundMean2
	}
	out := Evaluation{Rows: e.n, Risk: e.risk / n, ErrorRate: float64(e.wrong) / n, RMSE: math.Sqrt(e.squares / n), R2: r2, MAE: e.absolute / n,
		LogLoss: math.NaN(), CalibrationError: math.NaN()}
	if !e.m.settings.regression() {
		out.Labels = e.m.settings.Labels
		e.tally.result(&out, n, e.m.loss)
	}
	return out
}

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
			e.CalibrationError += float64(rows / n * math.Abs(bin.Accuracy-bin.Confidence))
		}
	}
}
