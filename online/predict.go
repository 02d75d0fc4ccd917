package online

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"polkrepro/data/rows"
	"polkrepro/loss"
)

// predictRows is the largest number of rows that are predicted at once. A slow
// stream is answered row by row.
const predictRows = 256

// each calls do with the scores of every row of a source, and answered before it waits
// for further rows. The source has labels only if labels is set.
func (m *Model) each(ctx context.Context, src Source, format string, labels bool, do func(f []float64, row *rows.Row) error, answered func() error) error {
	opts := m.rowOptions(format)
	opts.Dim, opts.NoLabels, opts.Columns = m.settings.Dim, !labels, m.settings.Columns.For(src.Columns)
	if src.Label != (rows.Column{}) {
		opts.Label, opts.Names.Label = src.Label, ""
	}
	f := src.open(opts)
	defer f.close()
	var x []float32
	var waiting []rows.Row
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
		waiting = append(waiting, *row)
		if len(waiting) < most && f.ready() {
			continue
		}
		c, scores := m.outputs(), m.scores(len(waiting), x)
		for i := range waiting {
			if err := do(scores[i*c:(i+1)*c], &waiting[i]); err != nil {
				return src.at(&waiting[i], err)
			}
		}
		if err := answered(); err != nil {
			return err
		}
		x, waiting = x[:0], waiting[:0]
	}
}

// rowOptions returns the options for reading a source in the given format for the model:
// with the model's classes and the names in the header of its training data.
func (m *Model) rowOptions(format string) rows.Options {
	opts := m.settings.rowOptions(format)
	if m.names != nil {
		opts.Names = *m.names
	}
	return opts
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
	p := make([]float64, len(m.settings.Labels))
	flush := func() error {
		out.Flush()
		return out.Error()
	}
	err := m.each(ctx, src, format, false, func(f []float64, row *rows.Row) error {
		if err := m.finiteScores(f); err != nil {
			return err
		}
		record := []string{m.answer(f)}
		if probability {
			prob.Probabilities(p, f)
			for _, v := range p {
				record = append(record, strconv.FormatFloat(v, 'g', 6, 64))
			}
		}
		out.Write(record)
		return nil
	}, flush)
	return cmp.Or(err, flush())
}

// finiteScores returns an error if a score of a row, or its prediction, is not finite.
func (m *Model) finiteScores(f []float64) error {
	if err := finite(f); err != nil || !m.settings.regression() {
		return err
	}
	return finite([]float64{m.value(f)})
}

// answer returns the prediction for the scores f, as text.
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
