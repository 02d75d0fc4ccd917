package online

import (
	"cmp"
	"context"
	"math"

	"polkrepro/data"
	"polkrepro/loss"
)

// beginTuned makes the model with settings that are chosen on held-out rows.
func (t *trainer) beginTuned(ctx context.Context) error {
	set := t.opt.Settings
	f, err := t.openHead(&set)
	if err != nil {
		return err
	}
	defer func() {
		if t.reader == nil {
			f.close()
		}
	}()
	stream := t.opt.Source.stream()
	var draw *sampler
	if !stream {
		draw = newSampler()
	}
	seen, err := f.look(ctx, set.regression(), draw, t.opt.Note)
	if err != nil {
		return err
	}
	t.shuffled = !stream && t.opt.Skip == 0
	t.warnSorted(seen)
	sc, err := t.choose(ctx, seen, &set)
	if err != nil {
		return t.named(err)
	}
	if t.m, err = newModel(set, sc); err != nil {
		return err
	}
	t.decided(f)
	if stream {
		t.reader, t.head = f, seen.head
	} else if t.shuffled {
		t.keepAll(seen.all)
	}
	return nil
}

// keepAll keeps the file's rows to be shuffled; nil if they are too many.
func (t *trainer) keepAll(rows []data.Row) {
	if t.kept = rows; rows == nil {
		return
	}
	all := t.m.newFingerprint()
	for i := range rows {
		all.add(&rows[i])
	}
	t.whole = all.sum()
}

// choose fills in what is missing from the settings and the options, and returns
// the features' scaling.
func (t *trainer) choose(ctx context.Context, seen *survey, set *Settings) (scaling, error) {
	stream, rows := t.opt.Source.stream(), seen.rows
	if stream {
		rows = 0
	}
	set.Dim = cmp.Or(set.Dim, seen.dim)
	batch, scale := set.Batch, set.Scale
	set.Batch = cmp.Or(batch, DefaultBatch)
	if err := set.bounded(rows, t.opt.Note); err != nil {
		return scaling{}, err
	}
	filled, err := set.withDefaults()
	if err != nil {
		return scaling{}, err
	}
	*set = filled
	set.Scale = scale // to be tuned if it is not given
	found, err := seen.tune(ctx, set, stream, t.opt.Epochs, t.opt.Note)
	if err != nil {
		return scaling{}, err
	}
	set.Scale = cmp.Or(set.Scale, ScaleStandard)
	if !stream {
		t.choosePasses(found, set, rows, batch == 0)
	}
	return seen.complete(set, t.opt.Note)
}

// choosePasses completes the passes over a file of so many rows, the mini-batch if
// it is free, and the steps in which the learning rate falls unless it is given.
func (t *trainer) choosePasses(found *tuned, set *Settings, rows int, free bool) {
	if t.opt.Epochs == 0 {
		t.opt.Epochs = found.epochs(rows)
		t.opt.Note("%d passes over %d rows", t.opt.Epochs, rows)
	}
	falls := t.opt.Settings.LearningRate == 0
	if free {
		set.enlargeBatch(rows, falls)
	}
	if falls {
		taken := float64(t.opt.Epochs)*float64(rows) - float64(t.opt.Skip)
		set.DecaySteps = int(math.Ceil(taken / float64(set.Batch)))
	}
}

// enlargeBatch makes the mini-batches of a large file larger, so that a step,
// which costs more than its rows, is taken less often: up to four times the
// default. A sample's weight after its step, η/N times its gradient, stays what
// it was for the losses whose gradient is bounded; for the others the curvature
// limits η itself.
func (s *Settings) enlargeBatch(rows int, rate bool) {
	for s.Batch < 4*DefaultBatch && rows >= 256*s.Batch {
		s.Batch *= 2
		if rate && s.Loss != (loss.SquaredError{}).Name() && s.Loss != (loss.SquaredHinge{}).Name() {
			s.LearningRate *= 2
		}
	}
}

// keep keeps a row as long as all rows can be shuffled together.
func (s *survey) keep(row *data.Row) {
	switch {
	case s.rows > blockRows(s.dim):
		s.all = nil
	case len(s.all) == s.rows-1:
		s.all = append(s.all, *row)
	}
}
