package harness

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"polkrepro/record"
	"polkrepro/spec"
)

// Shard returns the k-th of n parts of a plan, 1 ≤ k ≤ n. The parts are disjoint and
// together contain each run of the plan once. Their costs are about equal: the costliest
// remaining run goes to the part with the least cost, so that no part takes more than 4/3
// of the optimal division's time (Graham, Bounds on multiprocessing timing anomalies,
// 1969). The parts depend only on the plan: they are the same on every machine.
func Shard(plan []spec.Planned, k, n int) []spec.Planned {
	plan = spec.Distinct(plan)
	slices.SortStableFunc(plan, func(a, b spec.Planned) int { return cmp.Compare(b.Cost, a.Cost) })
	loads := make([]float64, min(n, len(plan)))
	var shard []spec.Planned
	for _, p := range plan {
		least := slices.Index(loads, slices.Min(loads))
		loads[least] += p.Cost
		if least == k-1 {
			shard = append(shard, p)
		}
	}
	return shard
}

// A Merged is the outcome of a merge.
type Merged struct {
	Finished   int      // runs with a record, including those the folder already had
	New        int      // records that were copied
	Failed     []string // record files of failed runs that did not finish in any folder
	Unfinished []string // IDs of runs that were started and have no record
}

// Merge copies the records of the shards' results folders to another results folder, which
// it creates if necessary and locks. The folder may have records already; damaged ones are
// replaced. Merge copies nothing if a shard has a damaged record or a broken seal, or if two
// folders have different records of one run: the error names them and wraps ErrIncomplete
// or ErrDeviates. If runs are unfinished, damaged or failed, Merge returns the outcome with
// an error that wraps ErrIncomplete or ErrRunsFailed.
func Merge(from []string, results string, warn func(error)) (*Merged, error) {
	var shards []*record.Collection
	for _, dir := range from {
		have, err := ReadWhole(dir, warn)
		if err != nil {
			return nil, err
		}
		shards = append(shards, have)
	}
	if _, err := merge(shards); err != nil { // before the folder is created
		return nil, Deviates(err)
	}
	into, err := OpenResults(results)
	if err != nil {
		return nil, err
	}
	defer into.Close()
	there, err := ReadResults(results, warn)
	if err != nil {
		return nil, err
	}
	all := append([]*record.Collection{there}, shards...) // first, so that the folder's own records stay
	finished, err := merge(all)
	if err != nil {
		return nil, Deviates(err)
	}
	records := RecordsDir(results)
	m := &Merged{Finished: len(finished)}
	for _, r := range finished {
		if filepath.Dir(r.Path) != records {
			if err := r.CopyTo(records); err != nil {
				return nil, fmt.Errorf("results folder: %w", err)
			}
			m.New++
		}
	}
	if _, err := ReadWhole(results, func(error) {}); err != nil { // a damaged record that no shard could replace
		return m, err
	}
	left := make(map[string]bool) // runs that are already listed
	for _, c := range all {
		for id, f := range c.Failed {
			if finished[id] == nil && !left[id] {
				left[id] = true
				m.Failed = append(m.Failed, f.Path)
			}
		}
		for _, id := range c.Partial {
			if finished[id] == nil && !left[id] {
				left[id] = true
				m.Unfinished = append(m.Unfinished, id)
			}
		}
	}
	slices.Sort(m.Failed)
	slices.Sort(m.Unfinished)
	return m, m.err()
}

// err returns the error of a merge with unfinished or failed runs.
func (m *Merged) err() error {
	var errs []error
	if n := len(m.Unfinished); n > 0 {
		errs = append(errs, Incomplete(fmt.Errorf("unfinished runs (%d): %s; run their shards again", n, firstOf(m.Unfinished))))
	}
	if n := len(m.Failed); n > 0 {
		errs = append(errs, fmt.Errorf("%w (%d), to be run again by their shards or in the merged folder: %s", ErrRunsFailed, n, firstOf(m.Failed)))
	}
	return errors.Join(errs...)
}
