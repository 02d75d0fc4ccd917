package online

import (
	"cmp"
	"context"
	"math"

	"polkrepro/data"
	"polkrepro/loss"
)

// beginTuned makes the model with settings that are chosen on held-out rows.
func (t *trainer) beginTuned(ctx context.Context, set Settings) error {
	stream := t.opt.Source.stream()
	f, err := t.opt.Source.open(rowOptions(&set))
	if err != nil {
		return err
	}
	defer func() {
		if t.feed == nil {
			f.close()
		}
	}()
	var draw *sampler
	if !stream {
		draw = newSampler()
	}
	seen, err := f.look(ctx, set.regression(), draw, t.opt.Note)
	if err != nil {
		return err
	}
	rows := seen.rows
	if stream {
		rows = 0
	}
	if set.Dim == 0 {
		set.Dim = seen.dim
	}
	batch := set.Batch
	set.Batch = cmp.Or(batch, DefaultBatch)
	if err := set.bounded(rows, t.opt.Note); err != nil {
		return err
	}
	scale := set.Scale
	if set, err = set.withDefaults(); err != nil {
		return err
	}
	set.Scale = scale
	found, err := seen.tune(ctx, &set, stream, t.opt.Epochs, t.opt.Note)
	if err != nil {
		return err
	}
	if set.Scale == "" {
		set.Scale = ScaleStandard
	}
	if t.shuffled = !stream && t.opt.Skip == 0; t.shuffled {
		t.kept = seen.all
	}
	if !stream {
		if t.opt.Epochs == 0 {
			t.opt.Epochs = found.epochs(rows)
			t.opt.Note("%d passes over %d rows", t.opt.Epochs, rows)
		}
		if batch == 0 {
			set.enlargeBatch(rows, t.opt.Settings.LearningRate == 0)
		}
		if t.opt.Settings.LearningRate == 0 {
			set.DecaySteps = int(math.Ceil((float64(t.opt.Epochs)*float64(rows) - float64(t.opt.Skip)) / float64(set.Batch)))
		}
	}
	t.warnSorted(seen)
	sc, err := seen.complete(&set, t.opt.Note)
	if err != nil {
		return err
	}
	if t.m, err = newModel(set, sc); err != nil {
		return err
	}
	if stream {
		t.feed, t.head = f, seen.head
	}
	return nil
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
