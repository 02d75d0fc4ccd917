package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/record"
)

// progressEvery bounds how often a run says how far it is.
const progressEvery = 200 * time.Millisecond

// An executor turns planned runs into records.
type executor struct {
	records    string // folder
	provenance record.Provenance
	progress   Progress
	options    trainerOptions
}

// A storageError is one of the results folder, not of a run: no other run
// would fare better.
type storageError struct{ err error }

func (e *storageError) Error() string { return "results folder: " + e.err.Error() }
func (e *storageError) Unwrap() error { return e.err }

// execute trains one planned run and leaves its record: sealed if the run is
// finished or has failed, partial if the context ended. It returns the run's
// failure, the context's error, or a *storageError.
func (x *executor) execute(ctx context.Context, p experiments.Planned, set *data.Set) error {
	w, err := record.Create(x.records, record.Header{
		ID:         p.ID,
		Run:        p.Run,
		DataSums:   set.Sums,
		DataFacts:  set.Facts,
		Provenance: x.provenance,
		Started:    time.Now().UTC(),
	})
	if err != nil {
		return &storageError{err}
	}
	defer w.Abort() // does nothing after Finish and Fail; a partial record's error changes nothing
	t := newTracked(p, x.progress)
	err = Guard(func() error { return x.train(ctx, p, set, w, t) })
	return x.conclude(ctx, w, t, err)
}

// train prepares and trains a run, and seals its record.
func (x *executor) train(ctx context.Context, p experiments.Planned, set *data.Set, w *record.Writer, t *tracked) error {
	tr, err := newTrainer(p.Run, set, x.options)
	if err != nil {
		return err
	}
	tr.emit = func(point record.Point) error {
		t.evaluated(point)
		if err := w.Point(point); err != nil {
			return &storageError{err}
		}
		return nil
	}
	tr.step = func(samples int) { t.stepped(samples, tr.learner.Expansion().Order()) }
	if err := tr.train(ctx); err != nil {
		return err
	}
	final := tr.final(time.Since(t.started))
	t.finished(final)
	if err := w.Finish(final); err != nil {
		return &storageError{err}
	}
	return nil
}

// conclude reports how a run ended and seals the record of one that failed.
func (x *executor) conclude(ctx context.Context, w *record.Writer, t *tracked, err error) error {
	var storage *storageError
	switch {
	case err == nil:
		t.report(EventFinish)
		return nil
	case ctx.Err() != nil && errors.Is(err, ctx.Err()), errors.As(err, &storage):
		t.report(EventStop)
		return err
	}
	t.event.Message = err.Error()
	t.report(EventFail)
	if err := w.Fail(record.Failure{Samples: t.event.Samples, Error: failureText(err)}); err != nil {
		return &storageError{err}
	}
	return fmt.Errorf("%s: %w", t.event.label(), err)
}

// failureText is what a record says of a failure: for a panic, its stack too.
func failureText(err error) string {
	var p *PanicError
	if errors.As(err, &p) {
		return err.Error() + "\n" + string(p.Stack)
	}
	return err.Error()
}

// newEvent describes a run that has not begun.
func newEvent(p experiments.Planned) Event {
	ref := dataRef(p.Run.Data)
	return Event{ID: p.ID, Series: p.Series, Data: ref.String(), Seed: p.Run.Seed, Total: p.Run.Samples, Error: -1}
}

// A tracked is a run under way with what its progress events say.
type tracked struct {
	progress Progress
	event    Event
	started  time.Time
	last     time.Time
}

// newTracked reports that a run begins.
func newTracked(p experiments.Planned, progress Progress) *tracked {
	t := &tracked{progress: progress, event: newEvent(p), started: time.Now()}
	t.report(EventStart)
	return t
}

func (t *tracked) report(kind string) {
	t.event.Kind = kind
	t.event.Seconds = time.Since(t.started).Seconds()
	t.progress.Report(t.event)
}

// stepped notes a step, and reports one now and then.
func (t *tracked) stepped(samples, order int) {
	t.event.Samples, t.event.Order = samples, order
	if now := time.Now(); now.Sub(t.last) >= progressEvery {
		t.last = now
		t.report(EventProgress)
	}
}

func (t *tracked) evaluated(p record.Point) {
	t.event.Samples, t.event.Order = p.Samples, p.ModelOrder
	if finite(p.TestError) {
		t.event.Error = p.TestError
	}
	t.report(EventProgress)
}

func (t *tracked) finished(f record.Final) {
	t.event.Error, t.event.Order = f.TestError, int(f.ModelOrder+0.5)
}
