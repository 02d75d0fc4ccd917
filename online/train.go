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

	// Settings must name the loss and the format. Other settings may be zero:
	// hyper-parameters then have their defaults; features, classes and bandwidth are
	// derived from the first 1,000 rows (for a file, features and classes from all rows).
	Settings Settings

	Resume *Model // model to train further, or nil; its settings replace Settings, except for the format

	Epochs int // passes over a file; 0: as Tune chooses, or 1 without Tune; a stream has one
	Skip   int // rows left out at the beginning of the first pass only: tuning, scaling and later passes use them

	// Tune chooses scaling, bandwidth, learning rate, pruner and Epochs, if they are
	// zero, by the error on held-out rows, in a bounded number of arithmetic
	// operations. These rows are drawn from all of a file, or are from the first
	// 1,000 of a stream. The rows of a file are then learned in random order, in
	// blocks that fit into memory (unless Skip leaves some out), with a learning
	// rate that falls to 0.
	//
	// Unless Settings has a pruner or a parsimony constant, the model order is then
	// the smallest whose held-out error exceeds the best by at most Tolerance.
	Tune bool

	// Tolerance is a fraction of all rows, or of the risk for regressions and losses with
	// probabilities. 0 means DefaultTolerance or DefaultRiskTolerance. A negative
	// Tolerance asks for the best model of any size.
	Tolerance float64

	Order int // model order to use in place of a chosen one; 0 for none

	// Continue resumes the unfinished training of a file where Resume stopped.
	// Epochs, Skip and the format are then those of that training. It is an error
	// if the file does not begin with the same rows, if Resume is not an
	// unfinished model, or if the source is a stream.
	Continue bool

	Note     func(format string, args ...any) // receives messages, such as the chosen settings; may be nil
	Progress func(*Model, Prequential)        // called after 100, 1,000 and every 10,000 rows, and every 5 seconds, with the results on rows never learned before: none in later passes; may be nil

	// Save, unless nil, is called after every SaveEvery rows, at least 1, that the
	// model has taken. An error from Save ends the training.
	Save      func(*Model) error
	SaveEvery int
}

// Train trains a model. If the source or the learner fails, or if ctx ends (the
// error then wraps ErrStopped), Train returns the model of the rows learned so
// far together with the error. This model is nil if no rows were learned, if Save
// failed, or if the training diverges (ErrDiverged).
func Train(ctx context.Context, opt TrainOptions) (*Model, error) {
	// Only interactive programs use Note and Progress.
	if opt.Note == nil {
		opt.Note = func(string, ...any) {}
	}
	if opt.Progress == nil {
		opt.Progress = func(*Model, Prequential) {}
	}
	if err := opt.check(); err != nil {
		return nil, err
	}
	t := &trainer{opt: opt, m: opt.Resume, at: checkpoint{Format: opt.Settings.Format}}
	if t.m == nil {
		if err := t.begin(ctx); err != nil {
			return nil, err
		}
	}
	t.began, t.next = t.m.rows, 100
	err := t.passes(ctx)
	if t.m == nil || errors.Is(err, ErrDiverged) {
		return nil, err
	}
	if t.m.checkpoint = nil; err != nil {
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
	opt TrainOptions
	m   *Model // nil once it is unusable

	at      checkpoint   // where the training is; its Sum is not kept here, but taken from seen
	seen    *fingerprint // of the rows of this pass, learned or skipped; nil for a stream
	from    *checkpoint  // where to continue; nil once the rows before it are skipped
	shuffle shuffler     // of this pass, if at.Shuffled
	reader  *rowReader   // nil if the shuffler keeps all rows

	began, taken int64 // rows that the model had before, and rows learned since
	next         int64 // value of taken at which progress is reported next
	watch        watch
}

// rowOptions returns the options for reading a source in the given format.
func (s *Settings) rowOptions(format string) rows.Options {
	o := rows.Options{Format: format, MaxDim: MaxFeatures, Regression: s.regression(), Classes: s.Labels}
	if rows.IsTable(format) {
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
			t.m, err = newModel(set, rows.Scaling{})
			return err
		}
	}
	f, err := t.opt.Source.open(set.rowOptions(set.Format))
	if err != nil {
		return err
	}
	defer func() {
		if t.reader == nil {
			f.close()
		}
	}()
	seen, err := f.look(ctx, set.regression(), tune && !stream, t.opt.Note)
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
		return fmt.Errorf("%s: most labels occur only once: check the label column, or use the squared loss for regression", t.opt.Source.name())
	}
	t.at.Shuffled = tune && !stream && t.opt.Skip == 0
	t.warnSorted(seen)
	t.warnNumbered(f, seen)
	var sc rows.Scaling
	if tune {
		sc, err = t.choose(ctx, seen, &set)
	} else {
		sc, err = seen.complete(&set, t.opt.Note)
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
		t.reader, f.held = f, append(seen.head, f.held...)
	case t.at.Shuffled && seen.all != nil: // few enough to be shuffled together
		t.shuffle.kept = seen.all
		all := newFingerprint()
		for i := range seen.all {
			all.add(&seen.all[i])
		}
		t.at.Whole = all.sum()
	}
	return nil
}

// passes learns all epochs.
func (t *trainer) passes(ctx context.Context) error {
	skip := t.opt.Skip
	t.at.Epochs = max(1, t.opt.Epochs) // tuning has set opt.Epochs
	if t.opt.Continue {
		t.from, t.at, skip = t.m.checkpoint, *t.m.checkpoint, t.m.checkpoint.Rows
		t.opt.Note("resuming in pass %d of %d after its first %d rows", t.at.Pass+1, t.at.Epochs, skip)
	}
	for pass := t.at.Pass; pass < t.at.Epochs; pass++ {
		err := t.learnPass(ctx, pass, skip)
		if errors.Is(err, ErrStopped) {
			return fmt.Errorf("%w in pass %d after its first %d rows", err, t.at.Pass+1, t.at.Rows)
		}
		if err != nil {
			return err
		}
		skip = 0
	}
	err := t.m.Finish()
	if level := t.m.trend.level; err == nil && level > bad { // it diverged too slowly to be stopped earlier
		err = t.m.diverged(level)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", t.opt.Source.name(), err)
	}
	return err
}

// learnPass learns all rows of the source once, except the first skip rows.
func (t *trainer) learnPass(ctx context.Context, pass, skip int) error {
	if err := t.openPass(pass); err != nil {
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
		if t.from != nil && (t.at.Rows == skip || err == io.EOF) {
			what := fmt.Sprintf("its first %d rows differ from those learned", skip)
			if t.at.Rows < skip {
				what = fmt.Sprintf("the file has %d rows, the model learned %d", t.at.Rows, skip)
			}
			if t.seen.sum() != t.from.Sum {
				return fmt.Errorf("%s: %w: %s", t.opt.Source.name(), ErrOtherFile, what)
			}
			t.from = nil
		}
		if err == io.EOF {
			return t.endPass()
		}
		if err := t.take(row, t.at.Rows < skip); err != nil {
			return err
		}
	}
}

// checkSkip returns an error if a new model skips all rows of the source.
func (t *trainer) checkSkip(rows int) error {
	if t.opt.Resume != nil || t.opt.Skip == 0 || t.opt.Skip < rows {
		return nil
	}
	return fmt.Errorf("%s: --skip %d: the file has %d rows", t.opt.Source.name(), t.opt.Skip, rows)
}

// openPass begins a pass. It returns an error if the file has changed.
func (t *trainer) openPass(pass int) error {
	stream := t.opt.Source.stream()
	if t.reader == nil && t.shuffle.kept == nil {
		opts := t.m.rowOptions(t.at.Format)
		opts.Header = cmp.Or(t.at.Header, opts.Header)
		var err error
		if t.reader, err = t.opt.Source.open(opts); err != nil {
			return err
		}
	}
	t.at.Pass, t.at.Rows = pass, 0
	if !stream {
		t.seen = newFingerprint()
	}
	t.shuffle = shuffler{pass: pass, kept: t.shuffle.kept, read: newFingerprint()}
	return nil
}

// endPass returns an error if the rows of the pass differ from those of earlier passes.
func (t *trainer) endPass() error {
	if t.at.Pass == 0 {
		if err := t.checkSkip(t.at.Rows); err != nil {
			return err
		}
	}
	if t.seen == nil || t.reader == nil {
		return nil
	}
	sum := t.seen.sum()
	if t.at.Shuffled {
		sum = t.shuffle.read.sum()
	}
	if t.at.Whole = cmp.Or(t.at.Whole, sum); sum == t.at.Whole {
		return nil
	}
	t.m = nil // it has learned rows of two different files
	return fmt.Errorf("%s: %w: the %d rows of pass %d differ from those of earlier passes; the last saved model is kept", t.opt.Source.name(), ErrChanged, t.at.Rows, t.at.Pass+1)
}

// takeHeader records whether the first row of a CSV source is a header, so that all
// passes treat it alike. A new model keeps the names in that header.
func (t *trainer) takeHeader(f *rowReader) {
	if t.at.Header != "" || f == nil || f.layout == nil || f.layout.Line == 0 {
		return
	}
	if t.at.Header = f.layout.Header(); t.at.Header == rows.HeaderYes && t.m != nil && t.m.rows == 0 {
		names := f.layout.Sum()
		t.m.names = &names
	}
}

// take learns a row, or skips it if leave is set.
func (t *trainer) take(row *rows.Row, leave bool) error {
	if !leave {
		if err := t.m.Learn(row); err != nil {
			return t.opt.Source.at(row, err)
		}
		t.taken++
	}
	t.at.Rows++
	if t.seen != nil {
		t.seen.add(row)
	}
	if leave {
		return nil
	}
	t.report(t.taken)
	return t.save()
}

// save calls opt.Save if the model is due to be saved.
func (t *trainer) save() error {
	if t.opt.Save == nil || t.m.rows%int64(t.opt.SaveEvery) != 0 || t.m.trend.level > sane {
		return nil
	}
	t.m.checkpoint = t.checkpoint()
	if err := t.opt.Save(t.m); err != nil {
		t.m = nil
		return fmt.Errorf("the model can't be saved: %w", err)
	}
	return nil
}

// checkpoint returns where the training is now, to be saved with the model. It is nil if
// the training can't be continued: on a stream, or if an error discarded rows.
func (t *trainer) checkpoint() *checkpoint {
	if t.seen == nil || t.m.rows != t.began+t.taken {
		return nil
	}
	p := t.at
	p.Sum = t.seen.sum()
	return &p
}

// nextRow returns the next row of the pass, unless ctx has ended.
func (t *trainer) nextRow(ctx context.Context) (*rows.Row, error) {
	if ctx.Err() != nil {
		return nil, ErrStopped
	}
	if t.at.Shuffled {
		return t.shuffle.next(ctx, t.reader, blockRows(t.m.settings.Dim))
	}
	return t.reader.next(ctx)
}

// report calls opt.Progress if a progress report is due.
func (t *trainer) report(rows int64) {
	if due := t.watch.due(); rows < t.next && !due {
		return
	}
	for t.next <= rows && rows < math.MaxInt64 {
		t.next = min(t.next*10, t.next+10_000-t.next%10_000)
	}
	p := t.m.seen
	t.m.seen = Prequential{}
	if t.at.Pass > 0 { // the rows have been learned before
		p = Prequential{}
	}
	t.opt.Progress(t.m, p)
}
