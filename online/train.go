package online

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"polkrepro/data/rows"
)

// TrainOptions say what is trained and on what.
type TrainOptions struct {
	Source Source

	// Settings name the loss and the format; the rest may be zero and is then
	// chosen: hyper-parameters by default, features, classes and bandwidth by
	// the first 1,000 rows (of a file: features and classes by all rows).
	Settings Settings

	Resume *Model // trained further if not nil; Settings are then the model's but for the format

	Epochs int // passes over a file, 0 for those that Tune chooses, else 1; a stream has one
	Skip   int // rows left out at the beginning of the first pass only: tuning, scaling and later passes use them

	// Tune chooses what is zero of scaling, bandwidth, learning rate, pruner and
	// Epochs by the error on held-out rows, in a bounded number of arithmetic
	// operations: of rows drawn from all of a file, of a stream's first 1,000.
	// A file's rows are then learned in a random order, in blocks that fit into
	// memory, unless Skip leaves some out, with a learning rate that falls to 0.
	//
	// Unless Settings has a pruner or a parsimony constant, the model order is then the
	// smallest whose error on held-out rows is not worse than the best by more than
	// Tolerance.
	Tune bool

	// Tolerance is a fraction of all rows, or of the risk for regressions and losses with
	// probabilities; 0 stands for DefaultTolerance or DefaultRiskTolerance. A negative one
	// asks for the best model of any size.
	Tolerance float64

	Order int // of the model, in place of one that is chosen; 0 for none

	// Continue goes on with a training of a file that was not finished, where
	// Resume says that it stopped; Epochs and Skip are then those of that
	// training, and so is the format. A file that does not begin with the same
	// rows is an error, and so is a Resume that is not such a model, or a stream.
	Continue bool

	Note     func(format string, args ...any) // what was chosen; may be nil
	Progress func(*Model, Prequential)        // after 100, 1,000 and every 10,000 rows, and every 5 seconds, of rows never learned before: none in later passes; may be nil

	// Save, unless it is nil, is called whenever the model has taken another
	// SaveEvery rows, at least 1. Its error ends the training.
	Save      func(*Model) error
	SaveEvery int
}

// Train trains a model. If the source has an error, the learner has one, or
// ctx ends (the error then wraps ErrStopped), the model of the rows before is
// returned beside the error; nil if there are none, or if Save failed. Of a
// training that diverges (ErrDiverged) it is one at most 1,000 rows older than the
// last whose predictions were sound.
func Train(ctx context.Context, opt TrainOptions) (*Model, error) {
	// Only a program that talks to somebody has a use for these two.
	if opt.Note == nil {
		opt.Note = func(string, ...any) {}
	}
	if opt.Progress == nil {
		opt.Progress = func(*Model, Prequential) {}
	}
	if err := opt.check(); err != nil {
		return nil, err
	}
	t := &trainer{opt: opt, m: opt.Resume}
	if t.m == nil {
		if err := t.begin(ctx); err != nil {
			return nil, err
		}
	}
	t.began, t.next = t.m.rows, 100
	err := t.passes(ctx)
	if errors.Is(err, errSave) || t.mixed {
		return nil, err
	}
	if err != nil {
		t.m.checkpoint = t.checkpoint()
	}
	if t.m.rows == t.began && !(opt.Continue && err == nil) {
		if err == nil {
			err = fmt.Errorf("%s: no rows to learn", opt.Source.name())
		}
		return nil, err
	}
	t.report(math.MaxInt64)
	return t.m, err
}

// check reports options that contradict each other.
func (o *TrainOptions) check() error {
	switch {
	case o.Continue && (o.Resume == nil || !o.Resume.Unfinished() || o.Source.stream()):
		return errors.New("online: the model has no unfinished training of a file to continue")
	case o.Resume != nil && o.Resume.learner == nil:
		return errors.New("online: the model was read for prediction; to train it further, read it with Read")
	case o.Save != nil && o.SaveEvery < 1:
		return fmt.Errorf("online: SaveEvery %d: must be at least 1", o.SaveEvery)
	}
	return nil
}

// A trainer is one call of Train.
type trainer struct {
	opt    TrainOptions
	m      *Model
	reader *rowReader // of a stream whose head has been read
	head   []rows.Row
	began  int64 // rows the model had before
	next   int64 // rows from then on until progress is reported

	header       string // of a CSV file, once its first row was read
	epochs, pass int
	row          int          // rows of this pass that were taken or left out
	seen         *fingerprint // of these; nil for a stream
	whole        string       // fingerprint of a whole pass; empty if none was seen
	from         *checkpoint  // where to go on, until the rows before have been left out
	mixed        bool         // the model has learned rows of two files
	lost         bool         // the model has given rows up that it had taken
	shuffle      *shuffler    // of this pass; nil if the rows are learned as they stand
	shuffled     bool         // every pass has one
	kept         []rows.Row   // the file's rows, if a shuffler has room for all of them
	watch        watch
	warnAt       int // model order at which growing warns next
}

// rowOptions returns how the source is read.
func rowOptions(s *Settings) rows.Options {
	o := rows.Options{Format: s.Format, MaxDim: MaxFeatures, Regression: s.regression()}
	if rows.IsTable(s.Format) {
		o.Label.Number = cmp.Or(s.LabelColumn, 1)
	}
	return o
}

// begin makes the model, from the source's rows if a setting depends on them.
func (t *trainer) begin(ctx context.Context) error {
	set, tune, stream := t.opt.Settings, t.opt.Tune, t.opt.Source.stream()
	if t.opt.Order > 0 && !tune {
		set.limit(t.opt.Order)
	}
	if !tune {
		var err error
		if set, err = set.withDefaults(); err != nil {
			return err
		}
		if !set.needsHead() {
			set.setRates(1)
			set.TargetFactor = 1
			t.m, err = newModel(set, rows.Scaling{})
			return err
		}
	}
	opts := rowOptions(&set)
	opts.Classes = set.Labels
	f, err := t.opt.Source.open(opts)
	if err != nil {
		return err
	}
	defer func() {
		if t.reader == nil {
			f.close()
		}
	}()
	var draw *sampler
	if tune && !stream {
		draw = newSampler()
	}
	seen, err := f.look(ctx, set.regression(), draw, t.opt.Note)
	if err != nil {
		return err
	}
	if !stream {
		if err := t.checkSkip(seen.rows); err != nil {
			return err
		}
	}
	if set.Dim == 0 && seen.dim == 0 {
		return fmt.Errorf("%s: no row has a feature", t.opt.Source.name())
	}
	if set.Labels == nil && seen.labels.Len() == 1 && !set.regression() {
		return fmt.Errorf("%s: all of the first %d rows have the label %.40q: classification needs two classes; for a stream, list all for training (--classes)", t.opt.Source.name(), seen.rows, seen.labels.Sorted()[0])
	}
	if set.Labels == nil && seen.labels.Unrepeated() {
		return fmt.Errorf("%s: most rows have a label that no other row has: is it the right column, or is this a regression, with the squared loss?", t.opt.Source.name())
	}
	t.shuffled = tune && !stream && t.opt.Skip == 0
	t.warnSorted(seen)
	if a, b, ok := rows.Alike(seen.labels.Sorted()); ok {
		t.opt.Note("warning: the labels %+q and %+q look the same and are two classes: write both in one Unicode form (NFC)", a, b)
	}
	t.warnNumbered(f, seen)
	var sc rows.Scaling
	if tune {
		sc, err = t.choose(ctx, seen, &set)
	} else {
		sc, err = seen.complete(&set, t.opt.Note)
	}
	if pe, ok := errors.AsType[*rows.ParseError](err); ok && err == error(pe) {
		return fmt.Errorf("%s: %w", t.opt.Source.name(), err)
	}
	if err != nil {
		return err
	}
	if t.m, err = newModel(set, sc); err != nil {
		return err
	}
	t.takeHeader(f)
	switch {
	case stream:
		t.reader, t.head = f, seen.head
	case t.shuffled && seen.all != nil: // few enough to be shuffled together
		t.kept = seen.all
		all := t.m.newFingerprint()
		for i := range t.kept {
			all.add(&t.kept[i])
		}
		t.whole = all.sum()
	}
	return nil
}

// choose fills in what is missing from the settings and the options, and returns
// the features' scaling.
func (t *trainer) choose(ctx context.Context, seen *survey, set *Settings) (rows.Scaling, error) {
	stream, total := t.opt.Source.stream(), seen.rows
	if stream {
		total = 0
	}
	set.Dim = cmp.Or(set.Dim, seen.dim)
	batch, scale := set.Batch, set.Scale
	set.Batch = cmp.Or(batch, DefaultBatch)
	free := set.Pruner == "" && set.Parsimony == 0
	if free {
		if err := set.anySize(total); err != nil {
			return rows.Scaling{}, err
		}
	}
	filled, err := set.withDefaults()
	if err != nil {
		return rows.Scaling{}, err
	}
	*set = filled
	set.Scale = scale // to be tuned if it is not given
	found, err := seen.tune(ctx, set, stream, free && (t.opt.Tolerance >= 0 || t.opt.Order > 0), &t.opt)
	if err != nil {
		return rows.Scaling{}, err
	}
	set.Scale = cmp.Or(set.Scale, rows.ScaleStandard)
	if !stream {
		t.choosePasses(found, set, total, batch == 0)
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
	falls, taken := t.opt.Settings.LearningRate == 0, t.opt.Epochs*rows-t.opt.Skip
	if free {
		if found.fixed {
			rows = taken
		}
		set.enlargeBatch(rows, falls)
	}
	set.schedule(taken, falls, found.fixed)
}

// enlargeBatch makes the mini-batches of a large file larger, so that a step,
// which costs more than its rows, is taken less often: up to four times the
// default. A sample's weight after its step, η/N times its gradient, stays what
// it was for the losses whose gradient is bounded; for the others the curvature
// limits η itself.
func (s *Settings) enlargeBatch(rows int, rate bool) {
	for s.Batch < 4*DefaultBatch && rows >= 256*s.Batch {
		s.Batch *= 2
		if rate && !unboundedGradient(s.Loss) {
			s.LearningRate *= 2
		}
	}
}

// passes learns all epochs.
func (t *trainer) passes(ctx context.Context) error {
	skip := t.opt.Skip
	t.epochs = max(1, t.opt.Epochs) // Epochs of a tuned training are those chosen
	if t.opt.Continue {
		t.from = t.m.checkpoint
		t.epochs, t.pass, skip, t.whole = t.from.Epochs, t.from.Pass, t.from.Rows, t.from.Whole
		t.shuffled = t.from.Shuffled
		t.opt.Settings.Format = cmp.Or(t.from.Format, t.opt.Settings.Format)
		t.opt.Note("goes on in pass %d of %d after its first %d rows", t.pass+1, t.epochs, skip)
	}
	for ; t.pass < t.epochs; t.pass++ {
		err := t.learnPass(ctx, skip)
		if errors.Is(err, ErrStopped) {
			return fmt.Errorf("%w in pass %d after its first %d rows", err, t.pass+1, t.row)
		}
		if err != nil {
			return err
		}
		skip = 0
	}
	t.m.checkpoint = nil
	err := t.m.finish(ctx)
	if errors.Is(err, ErrStopped) {
		t.pass-- // there is nothing left of the last one
		return fmt.Errorf("%w at the end of pass %d", err, t.epochs)
	}
	if err == nil {
		err = t.m.checkDiverged()
	}
	t.lost = err != nil // the rows that waited are given up
	if err != nil {
		err = fmt.Errorf("%s: %w", t.opt.Source.name(), err)
	}
	return err
}

// learnPass learns the source once, but for the first rows.
func (t *trainer) learnPass(ctx context.Context, skip int) error {
	if err := t.openPass(); err != nil {
		if errors.Is(err, ErrChanged) && t.pass > 0 {
			t.pass-- // of which all rows were taken
		}
		return err
	}
	defer func() {
		if t.reader != nil {
			t.reader.close()
			t.reader = nil
		}
	}()
	for {
		row, err := t.nextRow(ctx)
		t.takeHeader(t.reader)
		if err != nil && err != io.EOF {
			return err
		}
		if t.from != nil && err == io.EOF && t.row < skip {
			return fmt.Errorf("%s: %w: the file has %d rows, the model learned %d", t.opt.Source.name(), ErrOtherFile, t.row, skip)
		}
		if t.from != nil && (t.row == skip || err == io.EOF) {
			if err := t.from.check(t.seen, &t.opt.Source); err != nil {
				return err
			}
			t.from = nil
		}
		if err == io.EOF && t.from == nil && t.pass == 0 {
			if err := t.checkSkip(t.row); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return t.endPass()
		}
		if err := t.take(ctx, row, t.row < skip); err != nil {
			return err
		}
	}
}

// checkSkip reports a source of so many rows that are all skipped by a model that has
// learned none.
func (t *trainer) checkSkip(rows int) error {
	if t.opt.Resume != nil || t.opt.Skip == 0 || t.opt.Skip < rows {
		return nil
	}
	return fmt.Errorf("%s: --skip %d: the file has %d rows", t.opt.Source.name(), t.opt.Skip, rows)
}

// openPass begins a pass.
func (t *trainer) openPass() error {
	if t.reader == nil && t.kept == nil {
		opts := t.m.rowOptions(t.opt.Settings.Format)
		opts.Now = t.opt.Source.stream()
		switch {
		case t.header != "":
			opts.Header = t.header
		case t.from != nil:
			opts.Header = cmp.Or(t.from.Header, rows.HeaderAuto)
		}
		var err error
		if t.reader, err = t.opt.Source.open(opts); err != nil {
			return err
		}
	}
	t.row = 0
	if !t.opt.Source.stream() {
		t.seen = t.m.newFingerprint()
	}
	if t.shuffled {
		t.shuffle = &shuffler{pass: t.pass, kept: t.kept, read: t.m.newFingerprint()}
	}
	return nil
}

// endPass reports a pass whose rows were not those of the passes before.
func (t *trainer) endPass() error {
	if t.seen == nil || t.kept != nil {
		return nil
	}
	sum := t.seen.sum()
	if t.shuffle != nil {
		sum = t.shuffle.read.sum()
	}
	if t.whole = cmp.Or(t.whole, sum); sum == t.whole {
		if t.shuffle != nil {
			t.kept = t.shuffle.kept
		}
		return nil
	}
	t.mixed = true
	return fmt.Errorf("%s: %w: the %d rows of pass %d differ from those of earlier passes; the last saved model is kept", t.opt.Source.name(), ErrChanged, t.row, t.pass+1)
}

// takeHeader takes over what the first row of a CSV source is: all passes take it so,
// and a model that begins with it has its names.
func (t *trainer) takeHeader(f *rowReader) {
	if t.header != "" || f == nil || f.layout == nil || f.layout.Line == 0 {
		return
	}
	if t.header = f.layout.Header(); t.header == rows.HeaderYes && t.m != nil && t.m.rows == 0 {
		names := f.layout.Sum()
		t.m.names = &names
	}
}

// take learns a row or leaves it out.
func (t *trainer) take(ctx context.Context, row *rows.Row, leave bool) error {
	if !leave {
		before := t.m.rows
		if err := t.m.learn(ctx, row); err != nil {
			if errors.Is(err, ErrStopped) { // the row is not taken
				return err
			}
			t.lost = t.m.rows != before || errors.Is(err, ErrDiverged)
			return t.opt.Source.at(row, err)
		}
	}
	t.row++
	if t.seen != nil {
		t.seen.add(row)
	}
	if leave {
		return nil
	}
	if len(t.m.y) == 0 { // the model has just taken a step
		t.growing()
	}
	t.report(t.m.rows - t.began)
	return t.save()
}

// save hands the model on if it is time.
func (t *trainer) save() error {
	if t.opt.Save == nil || t.m.rows%int64(t.opt.SaveEvery) != 0 || !t.m.sound() {
		return nil
	}
	t.m.checkpoint = t.checkpoint()
	if err := t.opt.Save(t.m); err != nil {
		return fmt.Errorf("%w: %w", errSave, err)
	}
	return nil
}

// errSave is wrapped by what is wrong with saving.
var errSave = errors.New("the model can't be saved")

// checkpoint returns where a model that is saved now has stopped; nil if its training
// can't be continued.
func (t *trainer) checkpoint() *checkpoint {
	if t.seen == nil || t.lost || t.from != nil {
		return nil
	}
	return &checkpoint{t.epochs, t.pass, t.row, t.seen.sum(), t.opt.Settings.Format, t.header, t.whole, t.shuffled}
}

// nextRow returns a row of the head, or one that is read.
func (t *trainer) nextRow(ctx context.Context) (*rows.Row, error) {
	if t.shuffle != nil {
		return t.shuffle.next(ctx, t.reader, blockRows(t.m.settings.Dim))
	}
	if len(t.head) == 0 {
		return t.reader.next(ctx)
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
	if due := t.watch.due(); rows < t.next && !due {
		return
	}
	for t.next <= rows && rows < math.MaxInt64 {
		t.next = min(t.next*10, t.next+10_000-t.next%10_000)
	}
	p := t.m.TakePrequential()
	if t.pass > 0 { // the rows have been learned before
		p = Prequential{}
	}
	t.opt.Progress(t.m, p)
}
