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
// already are kept. Any number of processes may do so at once. Of the options
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
	out := &harness.Outcome{}
	sums := p.sums()
	var todo []int
	for _, i := range indexes {
		if p.finished(opt.Results, i, sums) {
			out.Kept = append(out.Kept, p.Runs[i].ID)
		} else {
			todo = append(todo, i)
		}
	}
	if len(todo) == 0 {
		return out, nil
	}
	sets, err := p.load(ctx, todo, sums, opt.Finder)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(harness.RecordsDir(opt.Results), 0o777); err != nil {
		return nil, fmt.Errorf("results folder: %w", err)
	}
	return out, p.attempt(ctx, todo, sets, out, opt)
}

// finished reports whether a run has a whole record, on the plan's data.
func (p *Plan) finished(results string, index int, sums map[data.Ref]map[string]string) bool {
	r := p.Runs[index]
	have, err := record.Read(recordPath(results, r.ID))
	return err == nil && maps.Equal(have.Header.DataSums, sums[harness.DataRef(r.Planned.Run)])
}

// load loads the data sets of runs, which must be those of the plan.
func (p *Plan) load(ctx context.Context, indexes []int, sums map[data.Ref]map[string]string, finder data.Finder) (map[data.Ref]*data.Set, error) {
	var runs []experiments.Planned
	for _, i := range indexes {
		runs = append(runs, p.Runs[i].Planned)
	}
	sets, lacking, err := harness.LoadData(ctx, finder, runs)
	switch {
	case errors.Is(err, data.ErrCorrupt):
		return nil, fmt.Errorf("%w: %w", harness.ErrMissingData, err)
	case err != nil:
		return nil, err
	case len(lacking) > 0:
		return nil, fmt.Errorf("%w: %s", harness.ErrMissingData, lacking[0].Why)
	}
	for ref, set := range sets {
		if !maps.Equal(set.Sums, sums[ref]) {
			return nil, fmt.Errorf("%w: %s has other sums here than in the plan", harness.ErrMissingData, ref)
		}
	}
	return sets, nil
}

// attempt carries out runs, each in a folder of its own, and publishes their
// records.
func (p *Plan) attempt(ctx context.Context, indexes []int, sets map[data.Ref]*data.Set, out *harness.Outcome, opt harness.Options) error {
	attempts := make([]*attempt, len(indexes))
	todo := make([]harness.Attempt, len(indexes))
	for i, index := range indexes {
		run := p.Runs[index].Planned
		a := &attempt{results: opt.Results, index: index, id: run.ID}
		attempts[i] = a
		todo[i] = harness.Attempt{Run: run, Set: sets[harness.DataRef(run.Run)], Begin: a.begin, End: a.end}
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
			err = errors.Join(err, os.RemoveAll(a.dir))
		}
	}
	if err == nil && len(out.Failed) > 0 {
		err = fmt.Errorf("%w: %d of %d", harness.ErrRunsFailed, len(out.Failed), len(attempts))
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
