package online

import (
	"context"
	"fmt"
	"math"

	"polkrepro/data/rows"
	"polkrepro/internal/words"
	"polkrepro/loss"
)

// An Evaluation holds a model's results on labelled rows. In JSON, a number that is not finite
// is null.
type Evaluation struct {
	Rows       int            `json:"rows"`        // number of rows evaluated
	ModelOrder int            `json:"model_order"` // model order, in elements
	Loss       string         `json:"loss"`        // name of the model's loss
	Risk       words.Nullable `json:"risk"`        // mean loss; for regression, of scaled targets
	TradeOff   []Tried        `json:"trade_off"`   // model orders that tuning tried, with results on rows held out in training; empty if it tried none

	*Classification // nil of a regression
	*Regression     // nil of a classification
}

// A Classification holds the results that only a classification has.
type Classification struct {
	Error       words.Nullable `json:"error"`                             // classification: fraction of rows predicted wrongly
	Classes     []Class        `json:"classes"`                           // classification: results by class
	Confusion   [][]int        `json:"confusion"`                         // classification: numbers of rows by label (first index) and prediction (second index), both in the order of classes
	LogLoss     words.Nullable `json:"log_loss"`                          // classification: mean of −ln p of the true class; null if the loss gives no probabilities
	Calibration *Calibration   `json:"calibration" jsonschema:"nullable"` // classification: comparison of confidence with accuracy; null if the loss gives no probabilities
}

// A Class holds the results of one class.
type Class struct {
	Label     string         `json:"label"`     // label, as in the training file
	Rows      int            `json:"rows"`      // number of rows of the class
	Predicted int            `json:"predicted"` // number of rows predicted as the class
	Correct   int            `json:"correct"`   // number of rows of the class that are predicted correctly
	Recall    words.Nullable `json:"recall"`    // correct/rows; null if there are no rows
	Precision words.Nullable `json:"precision"` // correct/predicted; null if no row is predicted as the class
}

// A Calibration compares confidence with accuracy.
type Calibration struct {
	Error words.Nullable `json:"error"` // calibration error: mean of |accuracy − confidence| over the bins, weighted by their rows
	Bins  []Bin          `json:"bins"`  // ten bins of equal width
}

// A Bin holds the rows whose confidence is in an interval.
type Bin struct {
	From       float64        `json:"from"`       // lower end of the interval
	To         float64        `json:"to"`         // upper end of the interval, exclusive except for 1
	Rows       int            `json:"rows"`       // number of rows in the interval
	Confidence words.Nullable `json:"confidence"` // mean confidence; null without rows
	Accuracy   words.Nullable `json:"accuracy"`   // fraction of the rows predicted correctly; null without rows
}

// A Regression holds the results that only a regression has.
type Regression struct {
	RMSE words.Nullable `json:"rmse"` // regression: root mean squared error, in the unit of the targets
	MAE  words.Nullable `json:"mae"`  // regression: mean absolute error, in the unit of the targets
	R2   words.Nullable `json:"r2"`   // regression: 1 − Σ(prediction − y)²/Σ(y − mean of y)²; null if all y are equal
}

// Evaluate compares the model's predictions with the labels of a source.
func (m *Model) Evaluate(ctx context.Context, src Source, format string) (*Evaluation, error) {
	e := &evaluator{m: m, p: make([]float64, len(m.settings.Labels))}
	for range e.p {
		e.confusion = append(e.confusion, make([]int, len(e.p)))
	}
	err := m.each(ctx, src, format, true, e.add, func() error { return nil })
	if err == nil && e.rows == 0 {
		err = fmt.Errorf("%s: no rows", src.name())
	}
	if err != nil {
		return nil, err
	}
	return e.result(), nil
}

// An evaluator accumulates the sums for an Evaluation.
type evaluator struct {
	m    *Model
	rows int
	loss float64

	// Of classification.
	confusion [][]int // rows of class i that were predicted as class j
	correct   int
	logLoss   float64 // of a loss with probabilities
	bins      []Bin   // with sums in place of means; nil without probabilities
	p         []float64

	// Of regression, in the units of the file.
	squares, absolute float64 // of the errors
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
	e.rows++
	if e.loss += value; e.loss-e.loss != 0 {
		return fmt.Errorf("the loss of the prediction %.3g is too large to add up", f[0])
	}
	if !e.m.settings.regression() {
		e.classify(e.m.classOf(y), f, value)
		return nil
	}
	v, err := number(row.Label)
	d := e.m.value(f) - v
	if e.squares += float64(d * d); e.squares-e.squares != 0 {
		return fmt.Errorf("the squared error of the prediction %.3g is too large to add up", e.m.value(f))
	}
	e.absolute += math.Abs(d)
	step := v - e.mean
	e.mean += step / float64(e.rows)
	e.aroundMean2 += float64(step * (v - e.mean))
	return err
}

// classify adds a row with the given class, scores f and value of the loss.
func (e *evaluator) classify(class int, f []float64, value float64) {
	given := e.m.class(f)
	if e.confusion[class][given]++; class == given {
		e.correct++
	}
	prob, ok := e.m.loss.(loss.Probabilistic)
	if !ok {
		return
	}
	if e.bins == nil {
		e.bins = make([]Bin, calibrationBins)
	}
	e.logLoss += value // −ln p, without the overflow of p
	prob.Probabilities(e.p, f)
	confidence := e.p[given]
	b := &e.bins[max(0, min(int(confidence*calibrationBins), calibrationBins-1))]
	b.Rows++
	b.Confidence += words.Nullable(confidence)
	if class == given {
		b.Accuracy++
	}
}

// result divides the sums.
func (e *evaluator) result() *Evaluation {
	n := float64(e.rows)
	out := &Evaluation{
		Rows: e.rows, ModelOrder: e.m.Order(), Loss: e.m.settings.Loss, Risk: words.Nullable(e.loss / n),
		TradeOff: append([]Tried{}, e.m.settings.TradeOff...),
	}
	if e.m.settings.regression() {
		r2 := math.NaN()
		if e.aroundMean2 > 0 {
			r2 = 1 - e.squares/e.aroundMean2
		}
		out.Regression = &Regression{words.Nullable(math.Sqrt(e.squares / n)), words.Nullable(e.absolute / n), words.Nullable(r2)}
		return out
	}
	c := &Classification{Error: words.Nullable(float64(e.rows-e.correct) / n), Classes: e.classes(), Confusion: e.confusion, LogLoss: words.Nullable(math.NaN())}
	if e.bins != nil {
		c.LogLoss, c.Calibration = words.Nullable(e.logLoss/n), e.calibration()
	}
	out.Classification = c
	return out
}

// calibrationBins is the number of bins of equal width, from 0 to 1, for the
// confidence of predictions.
const calibrationBins = 10

// calibration divides the sums of the bins. Its error is Σ_b n_b/n·|accuracy_b − confidence_b|.
func (e *evaluator) calibration() *Calibration {
	out := &Calibration{Bins: e.bins}
	for i := range out.Bins {
		b := &out.Bins[i]
		rows := float64(b.Rows)
		confidence, accuracy := float64(b.Confidence)/rows, float64(b.Accuracy)/rows
		*b = Bin{float64(i) / calibrationBins, float64(i+1) / calibrationBins, b.Rows, words.Nullable(confidence), words.Nullable(accuracy)}
		if b.Rows > 0 {
			out.Error += words.Nullable(rows / float64(e.rows) * math.Abs(accuracy-confidence))
		}
	}
	return out
}

// classes returns the result of every class, in the order of the model's labels.
func (e *evaluator) classes() []Class {
	var out []Class
	for i, row := range e.confusion {
		c := Class{Label: e.m.settings.Labels[i], Correct: row[i]}
		for j, n := range row {
			c.Rows += n
			c.Predicted += e.confusion[j][i]
		}
		c.Recall = words.Nullable(float64(c.Correct) / float64(c.Rows))
		c.Precision = words.Nullable(float64(c.Correct) / float64(c.Predicted))
		out = append(out, c)
	}
	return out
}
