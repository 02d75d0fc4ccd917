package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/record"
)

// attemptsName is the folder of a results folder that holds the attempts.
const attemptsName = "attempts"

// ResultsDir returns the folder that Exec writes to if no other is named.
func ResultsDir(dir string) string { return filepath.Join(dir, "results") }

// Select returns the indexes of a task's runs, or of the run of an index; the
// other argument is negative. The error wraps harness.ErrUsage if there is no
// such task or run.
func (p *Plan) Select(index, task int) ([]int, error) {
	switch {
	case task >= len(p.Tasks):
		return nil, harness.Usage(fmt.Errorf("no task %d: the plan has tasks 0 to %d", task, len(p.Tasks)-1))
	case index >= len(p.Runs):
		return nil, harness.Usage(fmt.Errorf("no run %d: the plan has runs 0 to %d", index, len(p.Runs)-1))
	case task >= 0:
		return p.Tasks[task].Runs, nil
	}
	return []int{index}, nil
}

// Exec carries out runs of the plan, of the given indexes, into opt.Results:
// finished ones appear in its folder of records, and those that are there
// already are kept. Any number of processes may do so at once. The runs on one
// data set follow each other, so that one is in memory at a time. Of the options
// it heeds Results, Workers, Finder, Progress, Methods and Batch.
//
// The error wraps harness.ErrUsage and ErrProgram if the plan was made by
// another program, harness.ErrMissingData if the data are not here or not
// those of the plan, harness.ErrRunsFailed or harness.ErrInterrupted; or it is
// that of the results folder. The outcome is there except where nothing was
// begun.
func (p *Plan) Exec(ctx context.Context, indexes []int, opt harness.Options) (*harness.Outcome, error) {
	if this := ThisProgram(); p.Program != this {
		return nil, harness.Usage(fmt.Errorf("%w: %v; this one is %v", ErrProgram, p.Program, this))
	}
	if err := harness.CheckFolder(opt.Results); err != nil {
		return nil, err
	}
	out := &harness.Outcome{}
	refs, todo := p.pending(indexes, opt.Results, out)
	for _, ref := range refs { // to find out now, not after hours of training
		if err := opt.Finder.Available(ref); err != nil {
			return nil, fmt.Errorf("%w: %w", harness.ErrMissingData, err)
		}
	}
	runs := len(indexes) - len(out.Kept)
	if opt.Progress != nil {
		opt.Progress.Report(harness.Event{Kind: harness.EventPlan, Runs: runs, Kept: len(out.Kept), Workers: max(opt.Workers, 1)})
	}
	for _, ref := range refs {
		set, err := p.load(ctx, p.Runs[todo[ref][0]].Planned, opt.Finder)
		if err != nil {
			return out, err
		}
		if err := p.attempt(ctx, todo[ref], set, out, opt); err != nil {
			return out, err
		}
	}
	if len(out.Failed) > 0 {
		return out, fmt.Errorf("%w: %d of %d", harness.ErrRunsFailed, len(out.Failed), runs)
	}
	return out, nil
}

// pending returns the runs that have no whole record, on the plan's data, by
// data set, with the data sets in the runs' order. It adds the others to the
// outcome.
func (p *Plan) pending(indexes []int, results string, out *harness.Outcome) (refs []data.Ref, todo map[data.Ref][]int) {
	sums := p.sums()
	todo = make(map[data.Ref][]int)
	for _, i := range indexes {
		id, ref := p.Runs[i].ID, p.Runs[i].Run.Data
		if have, err := record.Read(recordPath(results, id)); err == nil && maps.Equal(have.Header.DataSums, sums[ref]) {
			out.Kept = append(out.Kept, id)
			continue
		}
		if todo[ref] == nil {
			refs = append(refs, ref)
		}
		todo[ref] = append(todo[ref], i)
	}
	return refs, todo
}

// load loads the data set of a run, which must have the plan's sums.
func (p *Plan) load(ctx context.Context, run experiments.Planned, finder data.Finder) (*data.Set, error) {
	ref := run.Run.Data
	sets, lacking, err := harness.LoadData(ctx, finder, []experiments.Planned{run})
	switch {
	case errors.Is(err, data.ErrCorrupt):
		return nil, fmt.Errorf("%w: %w", harness.ErrMissingData, err)
	case err != nil:
		return nil, err
	case len(lacking) > 0:
		return nil, fmt.Errorf("%w: %s", harness.ErrMissingData, lacking[0].Why)
	case !maps.Equal(sets[ref].Sums, p.sums()[ref]):
		return nil, fmt.Errorf("%w: the files of %s differ from the plan's", harness.ErrMissingData, ref)
	}
	return sets[ref], nil
}

// attempt carries out runs on a data set, each in a folder of its own, and
// publishes their records. A run's failure is no error.
func (p *Plan) attempt(ctx context.Context, indexes []int, set *data.Set, out *harness.Outcome, opt harness.Options) error {
	attempts := make([]*attempt, len(indexes))
	todo := make([]harness.Attempt, len(indexes))
	for i, index := range indexes {
		run := p.Runs[index].Planned
		a := &attempt{results: opt.Results, index: index, id: run.ID}
		attempts[i] = a
		todo[i] = harness.Attempt{Run: run, Set: set, Begin: a.begin, End: a.end}
	}
	err := harness.Execute(ctx, todo, opt)
	for _, a := range attempts {
		switch {
		case a.failure != nil:
			out.Failed = append(out.Failed, harness.FailedRun{ID: a.id, Err: a.failure})
		case a.published:
			out.Finished = append(out.Finished, a.id)
		}
		if a.dir != "" && !a.published {
			os.RemoveAll(a.dir) // what stays because of the same error is collect's to tell
		}
	}
	return err
}

// An attempt is one process's at one run.
type attempt struct {
	results string
	index   int
	id      string

	dir       string // its folder, empty if it has not begun
	published bool
	failure   error // of the run
}

// begin makes the folder of the attempt.
func (a *attempt) begin() (records string, err error) {
	if err := os.MkdirAll(harness.RecordsDir(a.results), 0o777); err != nil {
		return "", fmt.Errorf("results folder: %w", err)
	}
	if a.dir, err = attemptDir(a.results, a.index); err != nil {
		return "", fmt.Errorf("results folder: %w", err)
	}
	return a.dir, nil
}

// end publishes the record.
func (a *attempt) end(failure error) error {
	a.failure = failure
	if err := publish(a.dir, harness.RecordsDir(a.results), a.id, failure != nil); err != nil {
		return fmt.Errorf("results folder: %w", err)
	}
	a.published = true
	return os.RemoveAll(a.dir)
}

// odd are the characters of host names that folders need not have.
var odd = regexp.MustCompile(`[^0-9A-Za-z._-]`)

// mostLeft is the number of attempts at one run by processes of one number on
// one host that may have been killed: in a container every process is the
// first.
const mostLeft = 1000

// attemptDir makes the folder of an attempt at a run, which no other attempt
// has or had.
func attemptDir(results string, index int) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	all := filepath.Join(results, attemptsName)
	if err := os.MkdirAll(all, 0o777); err != nil {
		return "", err
	}
	name := fmt.Sprintf("%d-%s-%d", index, odd.ReplaceAllString(host, "_"), os.Getpid())
	dir := filepath.Join(all, name)
	for n := 2; n <= mostLeft; n++ {
		if err := os.Mkdir(dir, 0o777); !errors.Is(err, os.ErrExist) {
			return dir, err
		}
		dir = filepath.Join(all, fmt.Sprintf("%s-%d", name, n))
	}
	return "", fmt.Errorf("%s: more than %d attempts were killed", all, mostLeft)
}
