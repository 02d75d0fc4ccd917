package online

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"polkrepro/data"
	"polkrepro/loss"
)

// predictRows is the number of rows that are predicted at once if they are
// there; a stream that is slow is answered row by row.
const predictRows = 256

// each calls do with the scores of every row of a source, which may lack the label,
// and answered before it waits for further rows.
func (m *Model) each(ctx context.Context, src Source, format string, do func(f []float64, row *data.Row) error, answered func() error) error {
	opts := rowOptions(&m.settings)
	opts.Format, opts.Dim = format, m.settings.Dim
	opts.Header = m.headerRule(src.stream())
	f, err := src.open(opts)
	if err != nil {
		return err
	}
	defer f.close()
	var x []float32
	var rows []data.Row
	most := max(1, min(predictRows, maxValues/m.settings.Dim))
	for {
		row, err := f.next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if x, err = m.append(x, row); err != nil {
			return src.at(row, err)
		}
		rows = append(rows, *row)
		if len(rows) < most && f.ready() {
			continue
		}
		c, scores := m.outputs(), m.scores(len(rows), x)
		for i := range rows {
			if err := do(scores[i*c:(i+1)*c], &rows[i]); err != nil {
				return src.at(&rows[i], err)
			}
		}
		if err := answered(); err != nil {
			return err
		}
		x, rows = x[:0], rows[:0]
	}
}

// headerRule returns how it is known whether the rows of a source for the model
// begin with a header: by the first alone if the others are long in coming.
func (m *Model) headerRule(now bool) data.HeaderRule {
	rule := data.HeaderRule{Now: now, Classes: m.settings.Labels, Numbers: m.settings.regression()}
	if m.names != nil {
		rule.Names = *m.names
	}
	return rule
}

// Predict writes a line for every row of the source: the class's label, or the
// value of a regression. With probability, for a logistic loss, the output is a
// CSV table: a header, then the label and the probability of every class.
func (m *Model) Predict(ctx context.Context, src Source, format string, probability bool, w io.Writer) error {
	prob, ok := m.loss.(loss.Probabilistic)
	if probability && !ok {
		return fmt.Errorf("online: a model with the %s loss has no probabilities: train with a logistic loss", m.settings.Loss)
	}
	out := csv.NewWriter(w)
	if probability {
		out.Write(append([]string{"prediction"}, m.settings.Labels...))
	}
	flush := func() error {
		out.Flush()
		return out.Error()
	}
	err := m.each(ctx, src, format, func(f []float64, row *data.Row) error {
		if err := m.finiteScores(f); err != nil {
			return err
		}
		record := []string{m.answer(f)}
		if probability {
			record = append(record, m.probabilities(prob, f)...)
		}
		out.Write(record)
		return nil
	}, flush)
	return cmp.Or(err, flush())
}

// finiteScores reports scores of a row, or a prediction, that are not finite.
func (m *Model) finiteScores(f []float64) error {
	if err := finite(f); err != nil || !m.settings.regression() {
		return err
	}
	return finite([]float64{m.value(f)})
}

// answer returns the prediction that scores stand for.
func (m *Model) answer(f []float64) string {
	if m.settings.regression() {
		return strconv.FormatFloat(m.value(f), 'g', -1, 64)
	}
	return m.settings.Labels[m.class(f)]
}

// value returns the prediction of a regression in the units of the file.
func (m *Model) value(f []float64) float64 {
	return f[0]/m.settings.TargetFactor + m.settings.TargetShift
}

func (m *Model) probabilities(l loss.Probabilistic, f []float64) []string {
	p := make([]float64, len(m.settings.Labels))
	l.Probabilities(p, f)
	out := make([]string, len(p))
	for i, v := range p {
		out[i] = strconv.FormatFloat(v, 'g', 6, 64)
	}
	return out
}

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
	err := m.each(ctx, src, format, e.add, func() error { return nil })
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

func (e *evaluator) add(f []float64, row *data.Row) error {
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
	if e.squares += d * d; e.squares-e.squares != 0 {
		return fmt.Errorf("the squared error of the prediction %.3g is too large to add up", e.m.value(f))
	}
	e.absolute += math.Abs(d)
	step := v - e.mean
	e.mean += step / float64(e.n)
	e.aroundMean2 += step * (v - e.mean)
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
