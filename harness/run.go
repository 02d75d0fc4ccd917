package harness

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"polkrepro/data"
	"polkrepro/record"
	"polkrepro/spec"
)

// progressEvery is the minimum time between two progress events of a run.
const progressEvery = 200 * time.Millisecond

// An executor turns planned runs into records. Their results do not depend on Options or
// cores.
type executor struct {
	Options
	provenance record.Provenance
	minimizers *minimizers
	cores      *cores
}

// A storageError is an error of the results folder, not of a run: all other runs would
// fail too.
type storageError struct{ err error }

func (e *storageError) Error() string { return "results folder: " + e.err.Error() }
func (e *storageError) Unwrap() error { return e.err }

// execute trains one planned run and writes its record. The record is sealed if the run
// finished or failed, and partial if the context ended. The error is the run's failure,
// the context's error, or a *storageError.
func (x *executor) execute(ctx context.Context, p spec.Planned, set *data.Set) error {
	w, err := record.Create(RecordsDir(x.Results), record.Header{
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
	defer w.Abort() // no effect after Finish and Fail; an error in closing a partial record does not matter
	t := newTracked(p, x.Progress)
	return x.conclude(ctx, w, t, x.train(ctx, p.Run, set, w, t))
}

// train trains a run and writes its points and figures.
func (x *executor) train(ctx context.Context, run spec.Run, set *data.Set, w *record.Writer, t *tracked) (err error) {
	defer Recover(&err)
	tr, err := newTrainer(run, set, x.Methods, x.cores, t)
	if err != nil {
		return err
	}
	if run.Evaluation.Minimizer {
		star, err := x.minimizers.of(ctx, run, set, x.cores.threads())
		if err != nil {
			return err
		}
		if tr.measured, err = newMeasured(tr.learner, star); err != nil {
			return err
		}
		tr.learner = tr.measured
	}
	tr.emit = func(point record.Point) error {
		if r := point.Reliability; r != nil { // the bins are for the last line
			point.Reliability = &record.Reliability{LogLoss: r.LogLoss, CalibrationError: r.CalibrationError}
		}
		if err := w.Point(point); err != nil {
			return &storageError{err}
		}
		return nil
	}
	if err := tr.train(ctx); err != nil {
		return err
	}
	final := tr.final(time.Since(t.started))
	if x.Predictions {
		if err := x.writePredictions(t.event.ID, run, set, tr.objective.predictions()); err != nil {
			return &storageError{err}
		}
	}
	t.event.Error, t.event.Order = final.TestError, int(final.ModelOrder+0.5)
	if err := w.Finish(final); err != nil {
		return &storageError{err}
	}
	return nil
}

// conclude reports the end of a run and, if the run failed, seals its record.
func (x *executor) conclude(ctx context.Context, w *record.Writer, t *tracked, err error) error {
	switch {
	case err == nil:
		t.report(EventFinish)
		return nil
	case stopped(ctx, err), errors.As(err, new(*storageError)):
		t.report(EventStop)
		return err
	}
	if at, ok := errors.AsType[*sampleError](err); ok { // training may have gone further than the evaluation that failed
		t.event.Samples = at.samples
	}
	t.event.Message = err.Error()
	t.report(EventFail)
	if err := w.Fail(record.Failure{Samples: t.event.Samples, Error: failureText(err)}); err != nil {
		return &storageError{err}
	}
	return fmt.Errorf("%s: %w", t.event.label(), err)
}

// failureText returns the text of a failure in a record. For a panic it includes the stack.
func failureText(err error) string {
	if p, ok := errors.AsType[*PanicError](err); ok {
		return err.Error() + "\n" + string(p.Stack)
	}
	return err.Error()
}

// newEvent returns the event of a run that has not started.
func newEvent(p spec.Planned) Event {
	ref := p.Run.Data
	return Event{ID: p.ID, Series: p.Series, Data: ref.String(), Seed: p.Run.Seed, Total: p.Run.Samples, Batch: p.Run.Batch(), Error: -1}
}

// A tracked is an active run with the contents of its progress events. stepped and
// evaluated may be called concurrently.
type tracked struct {
	progress Progress
	mu       sync.Mutex
	event    Event
	started  time.Time
	last     time.Time
}

// newTracked returns a tracked run and reports its start.
func newTracked(p spec.Planned, progress Progress) *tracked {
	t := &tracked{progress: progress, event: newEvent(p), started: time.Now()}
	t.report(EventStart)
	return t
}

func (t *tracked) report(kind string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.send(kind)
}

// send is report with the lock held.
func (t *tracked) send(kind string) {
	t.event.Kind = kind
	t.event.Seconds = time.Since(t.started).Seconds()
	t.progress.Report(t.event)
}

// stepped records a step of a stream and reports at most one step per progressEvery. Only
// for a report does it call the learner's Model, which can cost as much as a step.
func (t *tracked) stepped(samples int, l Learner) {
	if t.event.Batch {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.event.Samples = samples
	if now := time.Now(); now.Sub(t.last) >= progressEvery {
		t.last = now
		t.event.Order = l.Model().Order()
		t.send(EventProgress)
	}
}

// worked records the progress of a batch method.
func (t *tracked) worked(fraction float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.event.Part = min(fraction, 0.99) // the certificate and the evaluation are still to come
	if now := time.Now(); now.Sub(t.last) >= progressEvery {
		t.last = now
		t.send(EventProgress)
	}
}

// evaluated reports an evaluation. Training may have gone further since.
func (t *tracked) evaluated(p record.Point) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if finite(p.TestError) {
		t.event.Error = p.TestError
	}
	t.event.Order = p.ModelOrder
	t.send(EventProgress)
}
