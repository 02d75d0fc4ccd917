package online

import (
	"context"
	"fmt"
	"math"
	"slices"

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
	Error         words.Nullable `json:"error"`          // classification: fraction of rows predicted wrongly
	BalancedError words.Nullable `json:"balanced_error"` // classification: 1 − mean recall of the classes that have rows
	F1            words.Nullable `json:"f1"`             // classification: mean of the classes' F1, 2·correct/(rows + predicted), over classes with rows or predictions
	Classes       []Class        `json:"classes"`        // classification: results by class
	Confusion     [][]int        `json:"confusion"`      // classification: numbers of rows by label (first index) and prediction (second index), both in the order of classes
	LogLoss       words.Nullable `json:"log_loss"`       // classification: mean of −ln p of the true class; null if the loss gives no probabilities
	Unknown       map[string]int `json:"unknown"`        // classification: numbers of rows by label, of labels that the model does not have; they are errors, and in no other result
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

// A Regression holds the results that only a regression has.
type Regression struct {
	RMSE words.Nullable `json:"rmse"` // regression: root mean squared error, in the unit of the targets; null if the squares overflow
	MAE  words.Nullable `json:"mae"`  // regression: mean absolute error, in the unit of the targets
	R2   words.Nullable `json:"r2"`   // regression: 1 − Σ(prediction − y)²/Σ(y − mean of y)²; null if all y are equal
}

// Evaluate compares the model's predictions with the labels of a source.
func (m *Model) Evaluate(ctx context.Context, src Source, format string) (*Evaluation, error) {
	e := &evaluator{m: m, unknown: make(map[string]int)}
	for range m.settings.Labels {
		e.confusion = append(e.confusion, make([]int, len(m.settings.Labels)))
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
	m         *Model
	rows      int
	loss      float64
	confusion [][]int // of classification: rows of class i that were predicted as class j
	unknown   map[string]int

	// Of regression, in the units of the file.
	squares, absolute float64 // of the errors
	mean, aroundMean2 float64 // of y, by Welford's recurrence
}

func (e *evaluator) add(f []float64, row *rows.Row) error {
	if s := &e.m.settings; !s.regression() && row.Label != "" && s.conflict(row.Label) == nil && !slices.Contains(s.Labels, row.Label) {
		e.rows++
		e.unknown[row.Label]++
		return e.m.finiteScores(f)
	}
	y, err := e.m.target(row)
	if err == nil {
		err = e.m.finiteScores(f)
	}
	if err != nil {
		return err
	}
	e.rows++
	e.loss += e.m.loss.Value(f, y)
	if !e.m.settings.regression() {
		e.confusion[e.m.classOf(y)][e.m.class(f)]++
		return nil
	}
	v, err := number(row.Label)
	d := e.m.value(f) - v
	e.squares += float64(d * d)
	e.absolute += math.Abs(d)
	step := v - e.mean
	e.mean += step / float64(e.rows)
	e.aroundMean2 += float64(step * (v - e.mean))
	return err
}

// result divides the sums.
func (e *evaluator) result() *Evaluation {
	all := float64(e.rows)
	n := all
	for _, rows := range e.unknown {
		n -= float64(rows)
	}
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
	wrong := e.rows
	for i, row := range e.confusion {
		wrong -= row[i]
	}
	logLoss := words.Nullable(math.NaN())
	if _, ok := e.m.loss.(loss.Probabilistic); ok {
		logLoss = out.Risk
	}
	out.Classification = &Classification{
		Error: words.Nullable(float64(wrong) / all), Classes: e.classes(), Confusion: e.confusion, LogLoss: logLoss, Unknown: e.unknown,
	}
	out.measure()
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
