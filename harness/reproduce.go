package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"polkrepro/data"
	"polkrepro/internal/words"
	"polkrepro/record"
	"polkrepro/spec"
)

// Options control the execution of a plan. None of them changes the result of a run.
type Options struct {
	Results     string      // folder; default "results"
	Workers     int         // concurrent runs; default and maximum: one per core
	Finder      data.Finder // where data files are searched
	RequireData bool        // an unavailable data set is an error, before training starts
	Keep        bool        // use finished runs of other code for those of the plan
	Rerun       bool        // repeat finished runs
	Predictions bool        // write each run's predictions, for [Predictions]; repeat finished runs without them
	Until       time.Time   // unless zero, no replicate is begun that would end later; a replicate has the runs of a seed
	Progress    Progress    // default: no display
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

// An Outcome lists the results of the runs of a plan.
type Outcome struct {
	Finished    []string            // IDs of the runs that this call trained
	Kept        []string            // IDs of the runs that were finished before
	Failed      []FailedRun         // the longest first
	Left        map[string][]string // IDs of the runs that were not started, by the reason
	Unavailable []Unavailable       // unavailable data sets
}

// Lost returns an error if the records that were read afterwards lack a run that was finished or kept.
func (o *Outcome) Lost(have *record.Collection) error {
	lost := slices.Concat(o.Finished, o.Kept)
	all := len(lost)
	lost = slices.DeleteFunc(lost, func(id string) bool { return have.Records[id] != nil })
	if len(lost) == 0 {
		return nil
	}
	return fmt.Errorf("records of %d of %s were deleted or damaged by another program before they were read, such as %s.jsonl; repeat the command", len(lost), words.Count(all, "finished run"), lost[0])
}

// A FailedRun is a run that failed.
type FailedRun struct {
	ID  string
	Err error
}

// Reproduce executes a plan and writes one record per run to the results folder. It
// does not repeat finished runs, unless they are of other code
// ([spec.Run.PresentCode]). It restarts killed and failed runs from the
// beginning, since a run is deterministic. A run that fails does not stop the others.
//
// The error wraps ErrRunsFailed, ErrInterrupted, ErrMissingData or ErrLocked, or is an
// error of the results folder or of a damaged data file. The outcome is nil only if no
// run was started.
func Reproduce(ctx context.Context, plan []spec.Planned, opt Options) (*Outcome, error) {
	opt = opt.withDefaults()
	results, err := OpenResults(opt.Results)
	if err != nil {
		return nil, err
	}
	defer results.Close()
	defer data.Release()
	plan, out, err := pending(spec.Distinct(plan), opt)
	if err != nil {
		return nil, err
	}
	if opt.RequireData { // before generated data sets take seconds to load
		if absent := NotFound(opt.Finder, plan); len(absent) > 0 {
			return nil, requireAll(absent)
		}
	}
	sets, unavailable, err := loadAll(ctx, opt.Finder, plan)
	if err != nil {
		return nil, interruptedOr(ctx, err)
	}
	out.Unavailable = unavailable
	if opt.RequireData && len(unavailable) > 0 {
		return nil, requireAll(unavailable)
	}
	plan = slices.DeleteFunc(plan, func(p spec.Planned) bool { return sets[p.Run.Data] == nil })
	return out, carryOut(ctx, plan, sets, out, opt)
}

// pending returns the runs of a plan that must be executed, and an outcome that lists
// the kept runs.
func pending(plan []spec.Planned, opt Options) ([]spec.Planned, *Outcome, error) {
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
	var todo []spec.Planned
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

// missing reports whether a file does not exist.
func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, os.ErrNotExist)
}

func note(format string, args ...any) Event {
	return Event{Kind: EventNote, Message: fmt.Sprintf(format, args...)}
}

// carryOut executes runs and adds to the outcome. It starts the longest runs first, so
// that at the end no single worker is left with a long run. Runs that need the machine's
// memory for themselves come last, one by one on all cores. Only the end of the context or
// an error of the results folder stops all runs. With Options.Until, replicates come one after
// the other.
func carryOut(ctx context.Context, plan []spec.Planned, sets map[data.Ref]*data.Set, out *Outcome, opt Options) error {
	slices.SortStableFunc(plan, func(a, b spec.Planned) int {
		if !opt.Until.IsZero() && a.Run.Seed != b.Run.Seed {
			return cmp.Compare(a.Run.Seed, b.Run.Seed)
		}
		return cmp.Compare(b.Cost, a.Cost)
	})
	shared := make(map[data.Ref]*sharedSet)
	for _, p := range plan {
		if ref := p.Run.Data; shared[ref] == nil {
			shared[ref] = &sharedSet{set: sets[ref]}
		}
		shared[p.Run.Data].left.Add(1)
	}
	gate := newGate(opt.Until)
	groups := make([][]spec.Planned, 1) // the first is executed by several workers
	for _, p := range plan {
		if needsMachine(p.Run) {
			groups = append(groups, []spec.Planned{p})
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
			// Without this call the next kernel matrix is allocated while the previous one
			// is garbage but not yet returned to the system.
			debug.FreeOSMemory()
			workers, cores = layout(1, 1)
		}
		x.cores = cores
		errs := make([]error, len(runs))
		done := make([]bool, len(runs))
		fatal = pool(ctx, workers, cores, len(runs), func(ctx context.Context, i int) error {
			if !gate.opens(runs[i]) {
				return nil
			}
			shared := shared[runs[i].Run.Data]
			defer shared.release()
			err := x.execute(ctx, runs[i], shared.set)
			switch {
			case err == nil:
				done[i] = true
			case stopped(ctx, err), errors.As(err, new(*storageError)):
				return err
			default:
				errs[i] = err
				gate.failed(runs[i], err)
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
	out.Left = gate.left
	return conclusion(ctx, fatal, out, len(plan))
}

// A sharedSet is the data set of several runs. The last one to end releases it.
type sharedSet struct {
	set  *data.Set
	left atomic.Int64 // runs that have not ended
}

func (s *sharedSet) release() {
	if s.left.Add(-1) == 0 {
		s.set = nil
	}
}

// largeKernelMatrix is the size in bytes above which a machine with room for one kernel
// matrix may not have room for two.
const largeKernelMatrix = 4 << 30

// needsMachine reports whether a run's batch method needs so much memory that no other
// run should be active.
func needsMachine(run spec.Run) bool {
	return run.Batch() && Bytes(run.Method, Size{Train: float64(run.Samples), Params: run.Params}) >= largeKernelMatrix
}

// conclusion returns the error of a plan with the given number of runs after its
// execution has ended or was stopped.
func conclusion(ctx context.Context, fatal error, out *Outcome, runs int) error {
	notStarted := len(slices.Concat(slices.Collect(maps.Values(out.Left))...))
	left := runs - len(out.Finished) - len(out.Failed) - notStarted
	switch {
	case ctx.Err() != nil && left > 0:
		return fmt.Errorf("%w: %s left, finished runs are kept", ErrInterrupted, words.Count(left, "run"))
	case fatal != nil:
		return fatal
	case len(out.Failed) > 0:
		err := fmt.Errorf("%w: %d of %d", ErrRunsFailed, len(out.Failed), runs)
		if notStarted > 0 {
			err = fmt.Errorf("%w, and %d were not started", err, notStarted)
		}
		return err
	}
	return nil
}

// stopped reports whether err says that the context ended, by a signal or a deadline. A run
// that fails by a deadline of its own is not stopped.
func stopped(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// interruptedOr returns an error that wraps ErrInterrupted if the context
// ended, otherwise err.
func interruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}
