package harness

import (
	"context"
	"errors"
	"runtime/debug"
	"sync/atomic"

	"polkrepro/data"
	"polkrepro/experiments"
)

// An Attempt is a planned run outside of a results folder.
type Attempt struct {
	Run experiments.Planned
	Set *data.Set

	// Begin returns the folder that takes the record, which must be this
	// attempt's alone.
	Begin func() (records string, err error)

	// End takes the run's failure, nil if it is finished; its sealed record is
	// in the folder. It is not called for a run that was interrupted.
	End func(failure error) error
}

// Execute carries out attempts in their order by opt.Workers workers, without
// a lock: the folders are the caller's, and so is EventPlan. Of the options it
// heeds Workers, Progress, Methods and Batch. The error is that of an attempt's Begin or End,
// or of writing a record, which end the other attempts; it is ErrInterrupted if
// the context ended them.
func Execute(ctx context.Context, attempts []Attempt, opt Options) error {
	opt = opt.withDefaults()
	workers, cores := layout(opt.Workers, len(attempts))
	x := executor{provenance: Provenance(), progress: opt.Progress, methods: opt.Methods, minimizers: new(minimizers), cores: cores}
	var ended atomic.Int64
	err := pool(ctx, workers, cores, len(attempts), func(ctx context.Context, i int) error {
		err := x.attempt(ctx, attempts[i])
		if err == nil {
			ended.Add(1)
		}
		return err
	})
	// A context that ended after the last attempt, or after an error, ended none.
	if err == nil && int(ended.Load()) < len(attempts) || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return ErrInterrupted
	}
	return err
}

// attempt carries out one attempt.
func (x executor) attempt(ctx context.Context, a Attempt) (err error) {
	if x.records, err = a.Begin(); err != nil {
		return err
	}
	failure := x.execute(ctx, a.Run, a.Set)
	var storage *storageError
	if errors.As(failure, &storage) || ctx.Err() != nil && errors.Is(failure, ctx.Err()) {
		return failure
	}
	debug.FreeOSMemory() // the run's memory is the next one's to take
	return a.End(failure)
}

// LoadData loads the data sets of a plan and returns them by the runs'
// references, with those that can't be had. The error is that of
// a damaged file, or wraps ErrInterrupted if the context ended.
func LoadData(ctx context.Context, finder data.Finder, plan []experiments.Planned) (map[data.Ref]*data.Set, []Unavailable, error) {
	sets, lacking, err := loadAll(ctx, data.NewStore(finder), plan)
	if err != nil {
		return nil, nil, interruptedOr(ctx, err)
	}
	return sets, lacking, nil
}
