package online

import (
	"context"
	"errors"
	"fmt"

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

// GoOn returns a Feed that trains a model further, and passes warnings to note, which may be nil.
func GoOn(m *Model, note func(format string, args ...any)) *Feed {
	return &Feed{m: m, opt: TrainOptions{Note: note}}
}

// Choosing reports whether there are still too few rows to choose the settings from.
func (f *Feed) Choosing() bool { return f.choosing }

// Learn takes rows, all with the same features. If one of them can't be learned, it takes none. If
// training diverges or ctx ends, the Feed may have taken the rows before.
func (f *Feed) Learn(ctx context.Context, rows []rows.Row) error {
	if err := f.check(rows); err != nil {
		return err
	}
	if f.choosing && len(rows) > 0 {
		size := headSize(rows[0].Dim)
		n, draft := min(len(rows), size-len(f.head)), f.m
		f.head, rows = append(f.head, rows[:n]...), rows[n:]
		if len(f.head) < size {
			return nil
		}
		err := f.begin(ctx, f.opt)
		if f.choosing = err != nil; err == nil {
			err = f.check(rows) // by the scaling that was chosen
		}
		if err != nil {
			f.head, f.m, f.choosing = f.head[:len(f.head)-n], draft, true
			return err
		}
		f.head = nil
	}
	return f.learn(ctx, rows)
}

// check returns an error if one of the rows can't be learned.
func (f *Feed) check(all []rows.Row) error {
	set := f.opt.Settings
	for i := range all {
		row := &all[i]
		if f.choosing && set.Dim == 0 && row.Indices == nil {
			set.Dim = row.Dim // of the first row
			if len(f.head) > 0 {
				set.Dim = f.head[0].Dim
			}
		}
		check := set.check
		if !f.choosing {
			check = f.m.check
		}
		if err := check(row); err != nil {
			return &rows.ParseError{Line: i + 1, Unit: "row", Err: err}
		}
	}
	return nil
}

// check returns an error if the model can't learn or scale a row.
func (m *Model) check(row *rows.Row) error {
	_, err := m.target(row)
	if err == nil {
		_, err = m.append(m.x, row) // beyond the waiting rows
	}
	return err
}

// check returns an error if a row can't be one of those that missing settings are chosen from.
func (s *Settings) check(row *rows.Row) (err error) {
	switch {
	case row.Label == "":
		return errors.New("the row has no label")
	case s.regression():
		_, err = number(row.Label)
	case s.Labels != nil:
		_, err = s.class(row.Label)
	}
	if err == nil && s.Dim > 0 {
		err = s.holds(row)
	}
	for _, v := range row.Values {
		if err == nil && v-v != 0 {
			err = fmt.Errorf("feature %v is not finite", v)
		}
	}
	return err
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
		if f.m.drift != nil {
			f.m.drift.add(&rows[i], f.m.rows, func(q int, what string) {
				if f.opt.Note != nil {
					f.opt.Note("warning: feature %d %s", q+1, what)
				}
			})
		}
	}
	return nil
}

// Model returns a model that has learned all rows. It is valid until the next call of
// Learn. If there are too few rows to choose the settings from, the model is a draft with
// fixed defaults for missing settings.
func (f *Feed) Model(ctx context.Context) (*Model, error) {
	if err := f.draft(ctx); err != nil {
		return nil, err
	}
	return f.m, f.m.Finish()
}

// Predictor returns a model that predicts like Model, in much less time if rows are learned between
// the calls. It can't be saved.
func (f *Feed) Predictor(ctx context.Context) (*Model, error) {
	if err := f.draft(ctx); err != nil {
		return nil, err
	}
	return f.m.Ahead()
}

// draft trains the model on the rows that are new, while settings are still to be chosen. Whenever
// the head has doubled, it trains a new model on all of the head.
func (f *Feed) draft(ctx context.Context) error {
	switch n := len(f.head); {
	case !f.choosing:
		return nil
	case n == 0:
		return errors.New("no rows to learn")
	case f.m != nil && n < 2*int(f.m.rows):
		return f.learn(ctx, f.head[f.m.rows:])
	}
	opt := f.opt
	if opt.Tune, opt.Note = false, nil; opt.Settings.Scale == ScaleLearned {
		opt.Settings.Scale = rows.ScaleStandard // until there are enough rows to learn from
	}
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
