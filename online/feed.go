package online

import (
	"context"
	"errors"

	"polkrepro/data/rows"
)

// A Feed trains a model on rows that are passed to Learn. The result is the model that
// Train makes of a stream of these rows, however they are divided among the calls.
type Feed struct {
	opt      TrainOptions
	choosing bool       // settings are still to be chosen, from the head
	head     []rows.Row // the rows so far, while choosing; empty afterwards
	m        *Model     // while choosing, a draft trained on the first rows of the head, or nil
}

// NewFeed returns a Feed that trains with the given options, as on a stream.
func NewFeed(opt TrainOptions) *Feed {
	opt.Source.Path = "-"
	return &Feed{opt: opt, choosing: true}
}

// GoOn returns a Feed that trains a model further.
func GoOn(m *Model) *Feed { return &Feed{m: m} }

// Choosing reports whether there are still too few rows to choose the settings from.
func (f *Feed) Choosing() bool { return f.choosing }

// Learn takes rows, all with the same features. After an error the Feed may have taken
// the rows before the one that caused it.
func (f *Feed) Learn(ctx context.Context, rows []rows.Row) error {
	if f.choosing && len(rows) > 0 {
		size := headSize(rows[0].Dim)
		n := min(len(rows), size-len(f.head))
		f.head, rows = append(f.head, rows[:n]...), rows[n:]
		if len(f.head) < size {
			return nil
		}
		if err := f.begin(ctx, f.opt); err != nil {
			f.head = f.head[:len(f.head)-n]
			return err
		}
		f.choosing, f.head = false, nil
	}
	return f.learn(ctx, rows)
}

// learn trains the model on rows.
func (f *Feed) learn(ctx context.Context, rows []rows.Row) error {
	for i := range rows {
		if ctx.Err() != nil {
			return ErrStopped
		}
		if err := f.m.Learn(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// Model returns a model that has learned all rows. It is valid until the next call of
// Learn. If there are too few rows to choose the settings from, the model is a draft with
// fixed defaults for missing settings.
func (f *Feed) Model(ctx context.Context) (*Model, error) {
	if f.choosing {
		if err := f.draft(ctx); err != nil {
			return nil, err
		}
	}
	return f.m, f.m.Finish()
}

// draft trains the model on the rows that are new. Whenever the head has doubled, it trains
// a new model on all of the head.
func (f *Feed) draft(ctx context.Context) error {
	switch n := len(f.head); {
	case n == 0:
		return errors.New("no rows to learn")
	case f.m != nil && n < 2*int(f.m.rows):
		return f.learn(ctx, f.head[f.m.rows:])
	}
	opt := f.opt
	opt.Tune, opt.Note = false, nil
	err := f.begin(ctx, opt)
	if err != nil && opt.Settings.Scale == "" && opt.Settings.Bandwidth == 0 { // equal rows, for instance, have no bandwidth
		opt.Settings.Scale, opt.Settings.Bandwidth = rows.ScaleNone, 1
		err = f.begin(ctx, opt)
	}
	return err
}

// begin trains a new model on the head.
func (f *Feed) begin(ctx context.Context, opt TrainOptions) error {
	opt.Source.Rows = f.head
	m, err := Train(ctx, opt)
	if err == nil {
		f.m = m
	}
	return err
}

// Scores returns the values of the model's functions at rows of features, row-major. For
// a regression they are in the units of the targets.
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
