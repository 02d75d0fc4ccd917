package online

import (
	"bytes"
	"context"
	"errors"

	"polkrepro/data/rows"
)

// A Feed trains a model on rows that are handed to it. The model is the one that Train
// makes of a stream of these rows, however they are divided among the calls.
type Feed struct {
	opt      TrainOptions
	choosing bool       // settings are still to be chosen, from the head
	head     []rows.Row // empty otherwise
	goesOn   *Model     // while choosing, of a draft; nil if it is still to be made of whole
	whole    *Model     // has learned all rows, those that wait for their mini-batch too; nil if it is still to be made
}

// NewFeed returns a Feed that begins with the options of a stream.
func NewFeed(opt TrainOptions) *Feed {
	opt.Source.Path = "-"
	return &Feed{opt: opt, choosing: true}
}

// GoOn returns a Feed that trains a model further.
func GoOn(m *Model) *Feed { return &Feed{whole: m} }

// Choosing reports whether there are too few rows yet to choose the settings from.
func (f *Feed) Choosing() bool { return f.choosing }

// Learn takes rows, all with the same features. After an error the Feed may have taken
// those before the row that has it.
func (f *Feed) Learn(ctx context.Context, rows []rows.Row) (err error) {
	if f.choosing && len(rows) > 0 {
		n := min(len(rows), max(1, min(headRows, maxValues/rows[0].Dim)-len(f.head)))
		f.head, f.whole, rows = append(f.head, rows[:n]...), nil, rows[n:]
		if len(f.head) < headRows && len(f.head)*f.head[0].Dim < maxValues {
			return nil
		}
		if err := f.begin(ctx, f.opt); err != nil {
			f.head = f.head[:len(f.head)-n]
			return err
		}
		f.choosing, f.head = false, nil
	}
	if f.goesOn == nil && len(rows) > 0 {
		if f.goesOn, err = f.whole.again(); err != nil {
			return err
		}
	}
	for i := range rows {
		f.whole = nil
		if err := f.goesOn.learn(ctx, &rows[i]); err != nil {
			if f.goesOn.ended { // it is what it was before training diverged
				f.whole, f.goesOn = f.goesOn, nil
			}
			return err
		}
	}
	return nil
}

// Model returns a model that has learned all rows. It is valid until the next call of
// Learn. Of fewer rows than settings are chosen from it is a draft, with fixed defaults
// for what is not given.
func (f *Feed) Model(ctx context.Context) (*Model, error) {
	if f.choosing {
		if err := f.draft(ctx); err != nil {
			return nil, err
		}
	}
	switch {
	case f.whole != nil:
		return f.whole, nil
	case len(f.goesOn.y) == 0:
		return f.goesOn, nil
	}
	whole, err := f.goesOn.again()
	if err == nil {
		err = whole.finish(ctx)
	}
	if err == nil {
		f.whole = whole
	}
	return whole, err
}

// draft makes the model of the head again whenever the head has doubled.
func (f *Feed) draft(ctx context.Context) error {
	switch n := len(f.head); {
	case n == 0:
		return errors.New("no rows to learn")
	case f.goesOn != nil && n < 2*int(f.goesOn.rows):
		for i := int(f.goesOn.rows); i < n; i++ {
			if err := f.goesOn.learn(ctx, &f.head[i]); err != nil {
				return err
			}
		}
		return nil
	}
	opt := f.opt
	opt.Tune, opt.Note = false, nil
	err := f.begin(ctx, opt)
	if err != nil && opt.Settings.Scale == "" && opt.Settings.Bandwidth == 0 { // rows that are all the same, say, have no distance
		opt.Settings.Scale, opt.Settings.Bandwidth = rows.ScaleNone, 1
		err = f.begin(ctx, opt)
	}
	return err
}

// begin makes a model of the head.
func (f *Feed) begin(ctx context.Context, opt TrainOptions) error {
	opt.Source.Rows = f.head
	m, err := Train(ctx, opt)
	if err == nil {
		f.goesOn, err = m.again()
	}
	return err
}

// again returns a model that goes on from where the training of m has come to.
func (m *Model) again() (*Model, error) {
	var b bytes.Buffer
	if err := m.Save(&b); err != nil {
		return nil, err
	}
	return Read(&b)
}

// Scores returns what the functions of the model say of rows of features, row by row; of
// a regression in the units of the targets.
func (m *Model) Scores(rows []rows.Row) ([]float64, error) {
	var x []float32
	for i := range rows {
		var err error
		if x, err = m.append(x, &rows[i]); err != nil {
			return nil, err
		}
	}
	scores := m.scores(len(rows), x)
	for i, v := range scores {
		if m.settings.regression() {
			scores[i] = m.value([]float64{v})
		}
	}
	return scores, finite(scores)
}
