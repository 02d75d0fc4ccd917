package online

import (
	"context"
	"math"
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
	seen, err := f.look(ctx, set.regression(), draw)
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
	if err := set.bounded(rows, t.opt.Note); err != nil {
		return err
	}
	scale := set.Scale
	if set, err = set.withDefaults(); err != nil {
		return err
	}
	set.Scale = scale
	found, err := seen.tune(ctx, &set, stream, t.opt.Note)
	if err != nil {
		return err
	}
	if set.Scale == "" {
		set.Scale = ScaleStandard
	}
	t.shuffled = !stream && t.opt.Skip == 0
	if !stream {
		if t.opt.Epochs == 0 {
			t.opt.Epochs = found.epochs(rows)
			t.opt.Note("%d passes over %d rows", t.opt.Epochs, rows)
		}
		if t.opt.Settings.LearningRate == 0 {
			set.DecaySteps = int(math.Ceil((float64(t.opt.Epochs)*float64(rows) - float64(t.opt.Skip)) / float64(set.Batch)))
		}
	}
	seen.order.warn(t)
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
