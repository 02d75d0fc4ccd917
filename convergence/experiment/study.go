package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"polkrepro/convergence"
	"polkrepro/data"
	"polkrepro/harness"
)

// Options say how a study is carried out. None of them changes a record but
// for the time it took.
type Options struct {
	Results  string           // folder
	Workers  int              // runs at a time; 0 means one a core, which also is the most
	Progress harness.Progress // nil shows nothing
}

func (o Options) report(e harness.Event) {
	if o.Progress != nil {
		o.Progress.Report(e)
	}
}

// Carry carries out the runs of a plan that have no whole record in the results
// folder yet. A run that was killed begins anew: it is deterministic. A run that
// fails does not stop the others.
//
// The error wraps harness.ErrInterrupted if the context ended before all runs
// did, harness.ErrLocked if another process is at work in the folder, and
// harness.ErrRunsFailed if runs failed; or it is that of the folder.
func Carry(ctx context.Context, plan []convergence.Run, opt Options) error {
	return carry(ctx, plan, opt, func(draw uint64) (*data.Set, error) { return data.Multidist(data.Calibrated, draw) })
}

// A loader returns the data set of a draw.
type loader func(draw uint64) (*data.Set, error)

// carry is Carry on the data that load returns.
func carry(ctx context.Context, plan []convergence.Run, opt Options, load loader) error {
	results, err := harness.OpenResults(opt.Results)
	if err != nil {
		return err
	}
	defer results.Close()
	todo := pending(plan, opt)
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, runtime.GOMAXPROCS(0), len(todo)))
	opt.report(harness.Event{Kind: harness.EventPlan, Message: "Table 1", Runs: len(todo), Kept: len(plan) - len(todo), Workers: workers})
	if len(todo) == 0 {
		return nil
	}
	failed, err := carryAll(ctx, todo, workers, opt, load)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%w: finished runs of Table 1 are kept", harness.ErrInterrupted)
	case err != nil:
		return err
	}
	return runsFailed(failed)
}

// carryAll carries out runs by a number of workers. It returns the errors of
// those that failed, and what stopped all of them.
func carryAll(ctx context.Context, runs []convergence.Run, workers int, opt Options, load loader) ([]error, error) {
	problems := &problems{load: load, threads: runtime.GOMAXPROCS(0), known: map[convergence.Run]*problem{}}
	failed := make([]error, len(runs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i, run := range runs {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			err := harness.Guard(func() error { return carryOne(ctx, run, problems, opt) })
			var storage *storageError
			if errors.As(err, &storage) || errors.Is(err, context.Canceled) {
				return err
			}
			failed[i] = err
			return nil
		})
	}
	return failed, g.Wait()
}

// runsFailed joins the errors of failed runs, or returns nil.
func runsFailed(failed []error) error {
	failed = slices.DeleteFunc(failed, func(err error) bool { return err == nil })
	if len(failed) == 0 {
		return nil
	}
	return errors.Join(slices.Insert(failed, 0, fmt.Errorf("%w: %d of Table 1", harness.ErrRunsFailed, len(failed)))...)
}

// A storageError is one of the results folder: no other run would fare better.
type storageError struct{ err error }

func (e *storageError) Error() string { return e.err.Error() }
func (e *storageError) Unwrap() error { return e.err }

// pending returns the runs without a whole record, those that take longest
// first, so that no long one is left to a single worker at the end.
func pending(plan []convergence.Run, opt Options) []convergence.Run {
	var todo []convergence.Run
	for _, run := range plan {
		_, err := convergence.ReadRecord(recordPath(opt.Results, run))
		if errors.Is(err, convergence.ErrDamaged) {
			opt.report(harness.Event{Kind: harness.EventNote, Message: fmt.Sprintf("run again: %v", err)})
		}
		if err != nil {
			todo = append(todo, run)
		}
	}
	slices.SortStableFunc(todo, func(a, b convergence.Run) int { return b.Samples - a.Samples })
	return todo
}

func recordPath(results string, run convergence.Run) string {
	return filepath.Join(convergence.Dir(results), run.ID()+".jsonl")
}

// problems computes every problem once.
type problems struct {
	mu      sync.Mutex
	load    loader
	threads int
	known   map[convergence.Run]*problem
}

// of returns the problem of a run. Those who ask while it is computed wait: the
// kernel matrix takes 200 MB and is not to be made twice.
func (p *problems) of(ctx context.Context, run convergence.Run) (*problem, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := convergence.Run{Draw: run.Draw, Regularizer: run.Regularizer, Bandwidth: run.Bandwidth}
	if known := p.known[key]; known != nil {
		return known, nil
	}
	set, err := p.load(run.Draw)
	if err != nil {
		return nil, err
	}
	made, err := newProblem(ctx, run, set, p.threads)
	if err != nil {
		return nil, err
	}
	p.known[key] = made
	return made, nil
}

// carryOne trains a run and writes its record.
func carryOne(ctx context.Context, run convergence.Run, problems *problems, opt Options) error {
	t := newTraining(run, opt)
	t.report(harness.EventStart)
	err := t.carry(ctx, problems, opt.Results)
	var storage *storageError
	switch {
	case err == nil:
		t.report(harness.EventFinish)
	case ctx.Err() != nil, errors.As(err, &storage):
		t.report(harness.EventStop)
		return cmp.Or(ctx.Err(), err)
	default:
		t.event.Message = err.Error()
		t.report(harness.EventFail)
		return fmt.Errorf("%s, seed %d: %w", run.Series(), run.Seed, err)
	}
	return nil
}
