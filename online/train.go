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

	// Resume is a model to train further, or nil. Its settings replace Settings, except for
	// the format. If its training of a file was stopped, and Source is a file, that training
	// resumes where it stopped, with its passes and format. It is an error if the file does
	// not begin with the rows that the model has learned.
	Resume *Model

	Epochs int // passes over a file; 0: as Tune chooses, or 1 without Tune; a stream has one

	// Tune chooses scaling, bandwidth, learning rate, pruner and Epochs, if they are
	// zero, by the error on held-out rows, in a bounded number of arithmetic
	// operations. These rows are drawn from all of a file, or are from the first
	// 1,000 of a stream. The rows of a file are then learned in random order, in
	// blocks that fit into memory, with a learning rate that falls to 0.
	//
	// Unless Settings has a pruner or a parsimony constant, the model order is then
	// the smallest whose held-out error exceeds the best by at most Tolerance.
	Tune bool

	// Tolerance is a fraction of all rows, or of the risk for regressions and losses with
	// probabilities. 0 means DefaultTolerance or DefaultRiskTolerance. A negative
	// Tolerance asks for the best model of any size.
	Tolerance float64

	Order int // model order to use in place of a chosen one; 0 for none

	// Balanced weighs the rows of a class by n/(C·n_c), with n rows and C classes, n_c of the rows in the
	// class, as counted in all of a file or in the first 1,000 rows of a stream.
	Balanced bool

	// Restart makes a new model of a stream whose features have drifted, from the rows after that.
	Restart bool

	// Ordered holds out the last fifth of the rows that settings are tuned on, in the order of the
	// source, in place of random rows.
	Ordered bool

	// Size, unless 0, sets Order, with Tune: to the largest with which the elements, the weights and the scaling
	// take at most so many bytes as float32, the form of package export.
	Size int

	// Forgetting is the factor by which a row counts less after each further row, for a stream whose
	// regression is learned by recursive least squares; 0 for 1, which forgets nothing.
	Forgetting float64

	Note     func(format string, args ...any) // receives messages, such as the chosen settings; may be nil
	Progress func(*Model, Progress)           // called after 100, 1,000 and every 10,000 rows; may be nil

	// Save, unless nil, is called after every SaveEvery rows, at least 1, that the
	// model has taken. An error from Save ends the training.
	Save      func(*Model) error
	SaveEvery int
}

// A Progress is how far a training is.
type Progress struct {
	Prequential         // on the rows since the Progress before; none in passes after the first
	Pass        int     // current pass, from 1
	Passes      int     // 1 for a stream
	Share       float64 // of the rows of all passes; 0 if their number is not known
}

// Recursive reports whether the stream is a regression to be learned by recursive least squares: no
// setting is given that only POLK's steps have.
func (o *TrainOptions) Recursive() bool {
	s := &o.Settings
	steps := s.Pruner != "" || s.Parsimony != 0 || s.LearningRate != 0 || s.Regularizer != 0 || s.Batch != 0
	return o.Resume == nil && o.Tune && o.Source.stream() && s.regression() && !steps
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
		opt.Progress = func(*Model, Progress) {}
	}
	if opt.Save != nil && opt.SaveEvery < 1 {
		return nil, fmt.Errorf("online: SaveEvery %d: must be at least 1", opt.SaveEvery)
	}
	if opt.Forgetting != 0 && !opt.Recursive() {
		return nil, errors.New("online: Forgetting is for a regression of a stream that is learned by recursive least squares")
	}
	t := &trainer{opt: opt, m: opt.Resume}
	switch {
	case t.m == nil:
		if err := t.begin(ctx); err != nil {
			return nil, err
		}
	case t.m.Unfinished() && !opt.Source.stream():
		t.from, t.opt.Settings.Format = t.m.checkpoint, t.m.settings.Format
	default:
		t.m.settings.Format = opt.Settings.Format
	}
	resumed := t.from != nil
	t.began, t.next = t.m.rows, 100
	err := t.passes(ctx)
	if t.m == nil || errors.Is(err, ErrDiverged) {
		return nil, err
	}
	if t.m.checkpoint = nil; err != nil {
		t.m.checkpoint = t.checkpoint()
	}
	if t.m.rows == t.began && !(resumed && err == nil) {
		if err == nil {
			err = fmt.Errorf("%s: no rows to learn", opt.Source.name())
		}
		return nil, err
	}
	t.report(math.MaxInt64)
	return t.m, err
}

// A trainer is one call of Train.
type trainer struct {
	opt TrainOptions
	m   *Model // nil once it is unusable

	at      checkpoint   // where the training is; its Sum is not kept here, but taken from seen
	seen    *fingerprint // of the rows of this pass; nil for a stream
	from    *checkpoint  // where the training resumes; nil once the rows before it are skipped
	shuffle shuffler     // of this pass, if at.Shuffled
	reader  *rowReader   // nil if the shuffler keeps all rows
	drifted bool         // whether to make a new model, as Restart says

	sums *leastSquares // in the pass that solves for the weights; else nil
	x    []float32     // the features of a row

	began, taken int64 // rows that the model had before, and rows learned since
	next         int64 // value of taken at which progress is reported next
	total        int   // rows of the file; 0 if not known
}

// rowOptions returns the options for reading a source in the given format.
func (s *Settings) rowOptions(format string) rows.Options {
	o := rows.Options{Format: format, MaxDim: MaxFeatures, Regression: s.regression(), Classes: s.Labels, Weight: s.Weights}
	if s.Columns != nil {
		o.Columns = *s.Columns
	}
	if rows.IsTable(format) {
		o.Label = rows.Column{Name: s.LabelName}
		if s.LabelName == "" {
			o.Label.Number = cmp.Or(s.LabelColumn, 1)
		}
	}
	return o
}

// begin makes the model from the source's rows.
func (t *trainer) begin(ctx context.Context) error {
	tune, stream := t.opt.Tune, t.opt.Source.stream()
	set, err := t.defaults()
	if err != nil {
		return err
	}
	f := t.opt.Source.open(set.rowOptions(set.Format))
	defer func() {
		if t.reader == nil {
			f.close()
		}
	}()
	seen, err := f.look(ctx, set.regression(), tune && !stream, t.opt.Ordered)
	if err != nil {
		return err
	}
	err = seen.check(&set)
	if err == nil && rows.IsTable(set.Format) && set.LabelColumn == 0 && set.LabelName == "" {
		set.LabelColumn = 1
		err = t.noteLabel(f.layout, seen)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.opt.Source.name(), err)
	}
	set.Columns = f.columns(set.Columns)
	if t.opt.Size > 0 {
		if t.opt.Order, err = set.orderWithin(t.opt.Size, seen); err != nil {
			return err
		}
		t.opt.Note("model order %d, the largest within %d bytes", t.opt.Order, t.opt.Size)
	}
	if t.at.Shuffled = tune && !stream; !stream {
		t.total = seen.rows
	}
	t.warnSorted(seen)
	t.warnNumbered(f, seen)
	t.warnOneClass(seen, &set)
	t.warnFar(f, seen)
	t.noteCodes(f, seen)
	return t.model(ctx, f, seen, set)
}

// check returns an error about rows that nothing can be learned from.
func (s *survey) check(set *Settings) error {
	switch {
	case s.rows == 0:
		return errors.New("no rows")
	case set.Dim == 0 && s.dim == 0:
		return errors.New("no row has a feature")
	case set.Labels == nil && s.labels.Len() == 1 && !set.regression():
		return fmt.Errorf("all of the first %d rows have the label %.40q: classification needs two classes; for a stream, list all for training (--classes)", s.rows, s.labels.Sorted()[0])
	case set.Labels == nil && s.labels.Unrepeated():
		return errors.New("most labels occur only once: check the label column, or use the squared loss for regression")
	}
	return nil
}

// defaults returns the settings that are given, with fixed defaults for the others unless they are tuned.
func (t *trainer) defaults() (Settings, error) {
	set := t.opt.Settings
	if t.opt.Tune {
		return set, nil
	}
	if t.opt.Order > 0 {
		set.limit(t.opt.Order)
	}
	return set.withDefaults()
}

// model makes the model, with settings that are completed from the survey of the rows that f reads.
func (t *trainer) model(ctx context.Context, f *rowReader, seen *survey, set Settings) error {
	if err := t.weigh(seen, &set); err != nil {
		return err
	}
	var sc rows.Scaling
	var err error
	if t.opt.Tune {
		sc, err = t.choose(ctx, seen, f.featureName, &set)
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
	if !t.at.Shuffled {
		t.m.drift = newDrift(set.Dim)
	}
	if t.opt.Source.stream() {
		t.reader, f.held = f, append(seen.head, f.held...)
	}
	return nil
}

// restart makes a new model from the next rows of a stream that has drifted. The elements of the old one
// and their weights belong to its scaling. Near the end of the stream the old one goes on.
func (t *trainer) restart(ctx context.Context) error {
	t.drifted = false
	old := &t.m.settings
	seen, err := t.reader.look(ctx, old.regression(), false, t.opt.Ordered)
	if err != nil {
		return err
	}
	if seen.rows < fewestRows {
		t.reader.held = append(seen.head, t.reader.held...)
		return nil
	}
	if t.opt.Resume != nil { // its settings were chosen for the rows before
		t.opt.Resume, t.opt.Tune = nil, true
		t.opt.Settings = Settings{Loss: old.Loss, TextLabels: old.TextLabels, ClassWeights: old.ClassWeights, Metric: old.Metric, Format: old.Format, Weights: old.Weights, Columns: old.Columns}
	}
	set, err := t.defaults()
	if err != nil {
		return err
	}
	set.Labels, set.Dim, set.LabelColumn, set.LabelName = old.Labels, old.Dim, old.LabelColumn, old.LabelName
	t.opt.Note("a new model, with settings from %d rows from line %d on", seen.rows, seen.head[0].Line)
	names := t.m.names
	err = t.model(ctx, t.reader, seen, set)
	t.began, t.m.names = 0, names
	return err
}

// passes learns all epochs.
func (t *trainer) passes(ctx context.Context) error {
	t.at.Epochs = max(1, t.opt.Epochs) // tuning has set opt.Epochs
	exact := t.m.settings.Exact && (t.opt.Resume == nil || t.from != nil)
	if exact {
		t.at.Epochs++ // the last pass solves for the weights
	}
	if t.from != nil {
		t.at = *t.from
		t.opt.Note("resuming in pass %d of %d after its first %d rows", t.at.Pass+1, t.at.Epochs, t.at.Rows)
	}
	for pass := t.at.Pass; pass < t.at.Epochs; pass++ {
		if exact && pass == t.at.Epochs-1 {
			t.sums = newLeastSquares(t.m.f)
		}
		err := t.learnPass(ctx, pass)
		if errors.Is(err, ErrStopped) {
			return fmt.Errorf("%w in pass %d after its first %d rows", err, t.at.Pass+1, t.at.Rows)
		}
		if err != nil {
			return err
		}
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

// learnPass learns all rows of the source once, except those before the place where the training
// resumes.
func (t *trainer) learnPass(ctx context.Context, pass int) error {
	stream := t.opt.Source.stream()
	if t.reader == nil && t.shuffle.kept == nil {
		opts := t.m.rowOptions(t.opt.Settings.Format)
		opts.Header = cmp.Or(t.at.Header, opts.Header)
		t.reader = t.opt.Source.open(opts)
	}
	defer func() {
		if t.reader != nil {
			t.reader.close()
			t.reader = nil
		}
	}()
	t.at.Pass, t.at.Rows = pass, 0
	if !stream {
		t.seen = newFingerprint()
	}
	t.shuffle = shuffler{pass: pass, kept: t.shuffle.kept, read: newFingerprint()}
	for {
		row, err := t.nextRow(ctx)
		t.takeHeader(t.reader)
		if err != nil && err != io.EOF {
			return err
		}
		if p := t.from; p != nil && (t.at.Rows == p.Rows || err == io.EOF) {
			what := fmt.Sprintf("its first %d rows differ from those learned", p.Rows)
			if t.at.Rows < p.Rows {
				what = fmt.Sprintf("the file has %d rows, the model learned %d", t.at.Rows, p.Rows)
			}
			if t.seen.sum() != p.Sum {
				return fmt.Errorf("%s: %w: %s", t.opt.Source.name(), ErrOtherFile, what)
			}
			t.from = nil
		}
		if err == io.EOF {
			return t.endPass()
		}
		if err := t.take(row); err != nil {
			return err
		}
		if t.drifted {
			if err := t.restart(ctx); err != nil {
				return err
			}
		}
	}
}

// endPass returns an error if the rows of the pass differ from those of earlier passes.
func (t *trainer) endPass() error {
	if t.seen != nil && t.reader != nil {
		sum := t.seen.sum()
		if t.at.Shuffled {
			sum = t.shuffle.read.sum()
		}
		if t.at.Whole = cmp.Or(t.at.Whole, sum); sum != t.at.Whole {
			return t.changed()
		}
	}
	if t.sums != nil {
		t.sums.solve()
		t.m.ended = true // the rows that wait for their mini-batch are in the sums
	}
	return nil
}

// changed returns the error of a file whose rows differ from those of earlier passes.
func (t *trainer) changed() error {
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

// take learns a row, or skips it before the place where the training resumes.
func (t *trainer) take(row *rows.Row) error {
	if t.sums != nil {
		return t.sum(row)
	}
	if t.from == nil {
		if err := t.m.Learn(row); err != nil {
			return t.opt.Source.at(row, err)
		}
		t.taken++
		t.watch(row)
	}
	t.at.Rows++
	if t.seen != nil {
		t.seen.add(row)
	}
	if t.from != nil {
		return nil
	}
	t.report(t.taken)
	return t.save()
}

// watch takes the range of the features from the first rows, and warns of features of a stream that drift.
func (t *trainer) watch(row *rows.Row) {
	if t.m.drift == nil {
		return
	}
	after := "train a new model on rows from here on (--on-drift restart)"
	if t.opt.Restart {
		after = "a new model begins"
	}
	t.m.drift.add(row, t.m.rows, func(q int, what string) {
		if !t.opt.Source.stream() {
			return
		}
		t.drifted = t.opt.Restart
		t.opt.Note("warning: line %d: %s %s; %s", row.Line, t.reader.featureName(q), what, after)
	})
}

// sum adds a row to the sums of the last pass, which begins again if it is interrupted.
func (t *trainer) sum(row *rows.Row) error {
	y, err := t.m.target(row)
	if err == nil {
		t.x, err = t.m.append(t.x[:0], row)
	}
	if err != nil {
		return t.opt.Source.at(row, err)
	}
	t.sums.add(t.x, []float64{y}, t.m.settings.weight(row))
	return nil
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

// report calls opt.Progress if a progress report is due. rows is the number of rows learned, or
// math.MaxInt64 at the end.
func (t *trainer) report(rows int64) {
	if rows < t.next {
		return
	}
	for t.next <= rows && rows < math.MaxInt64 {
		t.next = min(t.next*10, t.next+10_000-t.next%10_000)
	}
	p := Progress{Pass: t.at.Pass + 1, Passes: t.at.Epochs}
	if t.at.Pass == 0 { // else the rows have been learned before
		p.Prequential = t.m.seen
	}
	t.m.seen = Prequential{}
	if t.total > 0 {
		p.Share = (float64(t.at.Pass) + float64(t.at.Rows)/float64(t.total)) / float64(t.at.Epochs)
	}
	t.opt.Progress(t.m, p)
}
