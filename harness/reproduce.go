package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/internal/words"
	"polkrepro/record"
)

// Options say how a plan is carried out. None of them changes what a run computes.
type Options struct {
	Results     string      // folder; default "results"
	Workers     int         // runs at a time; default one a core, which also is the most
	Finder      data.Finder // where data files are searched
	RequireData bool        // a data set that can't be had is an error, before anything is trained
	Keep        bool        // finished runs of other code stand for those of the plan
	Rerun       bool        // finished runs are repeated
	Predictions bool        // what runs predict of each test row is written, for [Predictions]; finished runs without are repeated
	Progress    Progress    // default: none is shown
	Methods     Registry    // default Methods()
}

func (o Options) withDefaults() Options {
	if o.Results == "" {
		o.Results = "results"
	}
	if o.Progress == nil {
		o.Progress = silent{}
	}
	if o.Methods == nil {
		o.Methods = Methods()
	}
	return o
}

// silent shows nothing.
type silent struct{}

func (silent) Report(Event) {}
func (silent) Close()       {}

// An Outcome says what became of a plan.
type Outcome struct {
	Finished    []string      // IDs of the runs that were trained now
	Kept        []string      // IDs of the runs that had been finished before
	Failed      []FailedRun   // the longest first
	Unavailable []Unavailable // data sets that can't be had
}

// A FailedRun is a run that failed.
type FailedRun struct {
	ID  string
	Err error
}

// Reproduce carries out a plan: one record a run in the results folder. Runs
// that are finished are not run again, unless they are of other code
// ([experiments.Run.PresentCode]); those that were killed or failed are, from their
// start, because a run is deterministic. A run that fails does not stop the others.
//
// The error wraps ErrRunsFailed, ErrInterrupted, ErrMissingData or ErrLocked,
// or is that of the results folder or of a damaged data file. The outcome is
// there except where nothing was begun.
func Reproduce(ctx context.Context, plan []experiments.Planned, opt Options) (*Outcome, error) {
	opt = opt.withDefaults()
	results, err := OpenResults(opt.Results)
	if err != nil {
		return nil, err
	}
	defer results.Close()
	plan, out, err := pending(experiments.Distinct(plan), opt)
	if err != nil {
		return nil, err
	}
	if opt.RequireData { // before generated data sets take seconds to load
		if absent := NotFound(opt.Finder, plan); len(absent) > 0 {
			return nil, requireAll(absent)
		}
	}
	sets, unavailable, err := loadAll(ctx, data.NewStore(opt.Finder), plan)
	if err != nil {
		return nil, interruptedOr(ctx, err)
	}
	out.Unavailable = unavailable
	if opt.RequireData && len(unavailable) > 0 {
		return nil, requireAll(unavailable)
	}
	plan = slices.DeleteFunc(plan, func(p experiments.Planned) bool { return sets[p.Run.Data] == nil })
	return out, carryOut(ctx, plan, sets, out, opt)
}

// pending returns the runs of a plan that have no finished record, and an
// outcome that lists the others.
func pending(plan []experiments.Planned, opt Options) ([]experiments.Planned, *Outcome, error) {
	have, err := record.ReadDir(RecordsDir(opt.Results))
	if err != nil {
		return nil, nil, fmt.Errorf("results folder: %w", err)
	}
	for _, err := range have.Errors {
		opt.Progress.Report(note("incomplete or corrupt record: %v", err))
	}
	if opt.Keep {
		plan = Adopt(plan, have.Records)
	}
	if other := OfOtherCode(plan, have.Records); len(other) > 0 {
		opt.Progress.Report(note("not reused (--keep reuses them): %s", OtherCodeNote(other)))
	}
	out := &Outcome{}
	var todo []experiments.Planned
	for _, p := range plan {
		switch {
		case have.Records[p.ID] != nil && !opt.Rerun && !(opt.Predictions && missing(predictionsFile(opt.Results, p.ID))):
			out.Kept = append(out.Kept, p.ID)
			continue
		case slices.Contains(have.Partial, p.ID):
			opt.Progress.Report(note("run again from its start, an earlier attempt did not finish: %s", newEvent(p).label()))
		case have.Failed[p.ID] != nil:
			opt.Progress.Report(note("run again, it failed earlier: %s", newEvent(p).label()))
		}
		todo = append(todo, p)
	}
	return todo, out, nil
}

// missing reports whether there is no file of that name.
func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, os.ErrNotExist)
}

func note(format string, args ...any) Event {
	return Event{Kind: EventNote, Message: fmt.Sprintf(format, args...)}
}

// carryOut executes runs, the longest first so that no long one is left to a
// single worker at the end, and after them, one by one on all cores, those that
// need the machine's memory for themselves. It adds to the outcome. What stops all
// runs is the context's end, or an error of the results folder.
func carryOut(ctx context.Context, plan []experiments.Planned, sets map[data.Ref]*data.Set, out *Outcome, opt Options) error {
	slices.SortStableFunc(plan, func(a, b experiments.Planned) int { return cmp.Compare(b.Cost, a.Cost) })
	groups := make([][]experiments.Planned, 1) // the first is executed by several workers
	for _, p := range plan {
		if needsMachine(p.Run) {
			groups = append(groups, []experiments.Planned{p})
		} else {
			groups[0] = append(groups[0], p)
		}
	}
	workers, cores := layout(opt.Workers, len(groups[0]))
	opt.Progress.Report(Event{Kind: EventPlan, Runs: len(plan), Kept: len(out.Kept), Workers: workers})
	x := &executor{Options: opt, provenance: Provenance(), minimizers: new(minimizers)}
	var fatal error
	for g, runs := range groups {
		if fatal != nil {
			break
		}
		if g > 0 {
			// Without this the next kernel matrix is made beside the one before,
			// which is garbage, but not yet given back.
			debug.FreeOSMemory()
			workers, cores = layout(1, 1)
		}
		x.cores = cores
		errs := make([]error, len(runs))
		done := make([]bool, len(runs))
		fatal = pool(ctx, workers, cores, len(runs), func(ctx context.Context, i int) error {
			err := x.execute(ctx, runs[i], sets[runs[i].Run.Data])
			switch {
			case err == nil:
				done[i] = true
			case errors.As(err, new(*storageError)), errors.Is(err, context.Canceled):
				return err
			default:
				errs[i] = err
			}
			return nil
		})
		for i, p := range runs {
			if done[i] {
				out.Finished = append(out.Finished, p.ID)
			}
			if errs[i] != nil {
				out.Failed = append(out.Failed, FailedRun{ID: p.ID, Err: errs[i]})
			}
		}
	}
	return conclusion(ctx, fatal, out, len(plan))
}

// largeKernelMatrix is the size in bytes from which two kernel matrices may not
// fit a machine that one fits.
const largeKernelMatrix = 4 << 30

// needsMachine reports whether a batch method keeps a matrix so large that no
// other run should be under way.
func needsMachine(run experiments.Run) bool {
	return run.Batch() && Bytes(run.Method, Size{Train: float64(run.Samples), Params: run.Params}) >= largeKernelMatrix
}

// conclusion returns the error of a plan of so many runs that was carried out
// as far as it went.
func conclusion(ctx context.Context, fatal error, out *Outcome, runs int) error {
	left := runs - len(out.Finished) - len(out.Failed)
	switch {
	case ctx.Err() != nil && left > 0:
		return fmt.Errorf("%w: %s left, finished runs are kept", ErrInterrupted, words.Count(left, "run"))
	case fatal != nil:
		return fatal
	case len(out.Failed) > 0:
		return fmt.Errorf("%w: %d of %d", ErrRunsFailed, len(out.Failed), runs)
	}
	return nil
}

// interruptedOr returns an error that wraps ErrInterrupted if the context
// ended, otherwise err.
func interruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}
