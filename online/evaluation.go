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
	e := &evaluator{m: m, p: make([]float64, len(m.settings.Labels))}
	for range e.p {
		e.Confusion = append(e.Confusion, make([]int, len(e.p)))
	}
	err := m.each(ctx, src, format, true, e.add, func() error { return nil })
	if err == nil && e.Rows == 0 {
		err = fmt.Errorf("%s: no rows", src.name())
	}
	if err != nil {
		return Evaluation{}, err
	}
	return e.result(), nil
}

// An evaluator adds up what an Evaluation is made of: until result, its means are sums.
type evaluator struct {
	Evaluation
	m                 *Model
	mean, aroundMean2 float64 // of y, by Welford's recurrence
	p                 []float64
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
	e.Rows++
	if e.Risk += value; e.Risk-e.Risk != 0 {
		return fmt.Errorf("the loss of the prediction %.3g is too large to add up", f[0])
	}
	if !e.m.settings.regression() {
		e.classify(e.m.classOf(y), f, value)
		return nil
	}
	v, err := number(row.Label)
	d := e.m.value(f) - v
	if e.RMSE += float64(d * d); e.RMSE-e.RMSE != 0 {
		return fmt.Errorf("the squared error of the prediction %.3g is too large to add up", e.m.value(f))
	}
	e.MAE += math.Abs(d)
	step := v - e.mean
	e.mean += step / float64(e.Rows)
	e.aroundMean2 += float64(step * (v - e.mean))
	return err
}

// classify adds a row of a class, with the scores f and a value of the loss.
func (e *evaluator) classify(class int, f []float64, value float64) {
	given, right := e.m.class(f), 0.0
	if e.Confusion[class][given]++; class == given {
		right = 1
	}
	e.ErrorRate += 1 - right
	prob, ok := e.m.loss.(loss.Probabilistic)
	if !ok {
		return
	}
	if e.Calibration == nil {
		e.Calibration = make([]Bin, CalibrationBins)
	}
	e.LogLoss += value // −ln p, without the overflow of p
	prob.Probabilities(e.p, f)
	confidence := e.p[given]
	b := &e.Calibration[max(0, min(int(confidence*CalibrationBins), CalibrationBins-1))]
	b.Rows++
	b.Confidence += confidence
	b.Accuracy += right
}

// result divides the sums. The calibration error is Σ_b n_b/n·|accuracy_b − confidence_b|
// over the bins.
func (e *evaluator) result() Evaluation {
	out, n := e.Evaluation, float64(e.Rows)
	if out.R2 = math.NaN(); e.aroundMean2 > 0 {
		out.R2 = 1 - e.RMSE/e.aroundMean2
	}
	out.Labels = e.m.settings.Labels
	out.Risk, out.ErrorRate, out.RMSE, out.MAE, out.LogLoss = e.Risk/n, e.ErrorRate/n, math.Sqrt(e.RMSE/n), e.MAE/n, e.LogLoss/n
	if e.Calibration == nil {
		out.LogLoss, out.CalibrationError = math.NaN(), math.NaN()
	}
	for i := range out.Calibration {
		b := &out.Calibration[i]
		rows := float64(b.Rows)
		*b = Bin{float64(i) / CalibrationBins, float64(i+1) / CalibrationBins, b.Rows, b.Confidence / rows, b.Accuracy / rows}
		if b.Rows > 0 {
			out.CalibrationError += float64(rows / n * math.Abs(b.Accuracy-b.Confidence))
		}
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
