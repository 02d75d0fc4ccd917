package online

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"polkrepro/data"
)

// TrainOptions say what is trained and on what.
type TrainOptions struct {
	Source Source

	// Settings name the loss and the format; the rest may be zero and is then
	// chosen: hyper-parameters by default, features, classes and bandwidth by
	// the first 1,000 rows (of a file: features and classes by all rows).
	Settings Settings

	Resume *Model // trained further if not nil; Settings are then the model's but for the format

	Epochs int // passes over a file, at least 1; a stream has one
	Skip   int // rows left out at the beginning of the first pass

	Note     func(format string, args ...any) // what was chosen
	Progress func(*Model, Prequential)        // after 100, 1,000 and every 10,000 rows
}

// Train trains a model. If the source has an error, the learner has one, or
// ctx ends (the error then wraps ErrStopped), the model of the rows before is
// returned beside the error; nil if there are none.
func Train(ctx context.Context, opt TrainOptions) (*Model, error) {
	t := &trainer{opt: opt, m: opt.Resume}
	if t.m == nil {
		if err := t.begin(ctx); err != nil {
			return nil, err
		}
	}
	t.began, t.next = t.m.rows, 100
	err := t.passes(ctx)
	if err == nil && t.m.rows == t.began {
		err = fmt.Errorf("%s: there are no rows to learn", opt.Source.name())
	}
	if t.m.rows == t.began {
		return nil, err
	}
	t.report(math.MaxInt64)
	return t.m, err
}

// A trainer is one call of Train.
type trainer struct {
	opt   TrainOptions
	m     *Model
	feed  *feed // of a stream whose head has been read
	head  []data.Row
	began int64 // rows the model had before
	next  int64 // rows from then on until progress is reported
	row   int   // rows of this pass
}

// rowOptions returns how the source is read.
func rowOptions(s *Settings) data.RowOptions {
	return data.RowOptions{Format: s.Format, LabelColumn: s.LabelColumn, MaxDim: MaxFeatures}
}

// begin makes the model from the head.
func (t *trainer) begin(ctx context.Context) error {
	set := t.opt.Settings.withDefaults()
	f, err := t.opt.Source.open(rowOptions(&set))
	if err != nil {
		return err
	}
	seen, err := f.look(ctx, set.regression())
	if err == nil {
		var sc scaling
		if sc, err = seen.complete(&set, t.opt.Note); err == nil {
			t.m, err = newModel(set, sc)
		}
	}
	if t.opt.Source.stream() && err == nil {
		t.feed, t.head = f, seen.head
		return nil
	}
	f.close()
	return err
}

// passes learns all epochs.
func (t *trainer) passes(ctx context.Context) error {
	skip := t.opt.Skip
	for pass := range max(1, t.opt.Epochs) {
		err := t.pass(ctx, skip)
		if errors.Is(err, ErrStopped) {
			return fmt.Errorf("%w in pass %d after its first %d rows", err, pass+1, t.row)
		}
		if err != nil {
			return err
		}
		skip = 0
	}
	return t.m.Finish()
}

// pass learns the source once, but for the first rows.
func (t *trainer) pass(ctx context.Context, skip int) error {
	if t.feed == nil {
		set := t.m.settings
		set.Format = t.opt.Settings.Format
		f, err := t.opt.Source.open(rowOptions(&set))
		if err != nil {
			return err
		}
		t.feed = f
	}
	defer func() {
		t.feed.close()
		t.feed = nil
	}()
	for t.row = 0; ; t.row++ {
		row, err := t.nextRow(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if t.row < skip {
			continue
		}
		if err := t.m.Learn(row); err != nil {
			return t.opt.Source.at(row, err)
		}
		t.report(t.m.rows - t.began)
	}
}

// nextRow returns a row of the head, or one that is read.
func (t *trainer) nextRow(ctx context.Context) (*data.Row, error) {
	if len(t.head) == 0 {
		return t.feed.next(ctx)
	}
	row := t.head[0]
	t.head = t.head[1:]
	if ctx.Err() != nil {
		return nil, ErrStopped
	}
	return &row, nil
}

// report tells of the progress if it is time.
func (t *trainer) report(rows int64) {
	if rows < t.next {
		return
	}
	t.next = min(t.next*10, t.next+10_000-t.next%10_000)
	if p := t.m.TakePrequential(); p.Rows > 0 {
		t.opt.Progress(t.m, p)
	}
}
