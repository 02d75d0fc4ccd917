package harness

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"polkrepro/experiments"
	"polkrepro/record"
)

// Shard returns the k-th of n parts of a plan, 1 ≤ k ≤ n. The parts are disjoint, are
// together the plan, each run once, and cost about the same: the costliest run left goes to
// the part that has least to do, so that no part takes more than 4/3 of what the best
// division needs (Graham, Bounds on multiprocessing timing anomalies, 1969). They follow
// from the plan alone: every machine divides it alike.
func Shard(plan []experiments.Planned, k, n int) []experiments.Planned {
	plan = experiments.Distinct(plan)
	slices.SortStableFunc(plan, func(a, b experiments.Planned) int { return cmp.Compare(b.Cost, a.Cost) })
	loads := make([]float64, min(n, len(plan)))
	var shard []experiments.Planned
	for _, p := range plan {
		least := slices.Index(loads, slices.Min(loads))
		loads[least] += p.Cost
		if least == k-1 {
			shard = append(shard, p)
		}
	}
	return shard
}

// A Merged says what a merge found and did.
type Merged struct {
	Finished   int      // runs with a record, those that the folder had included
	New        int      // records that were copied
	Failed     []string // files of failures of runs that have no other record
	Unfinished []string // IDs of runs that were begun and have no record
}

// Merge copies the records in the results folders of shards to another one, which it
// makes and locks, and which may have records already; a damaged one of these is replaced.
// Nothing is copied if a shard has a damaged record or a broken seal, or two folders have
// different records of one run: the error names them, and wraps ErrIncomplete or
// ErrDeviates. It wraps ErrIncomplete or ErrRunsFailed, with the outcome, if runs are
// unfinished, damaged or failed.
func Merge(from []string, results string, warn func(error)) (*Merged, error) {
	var shards []*record.Collection
	for _, dir := range from {
		have, err := ReadWhole(dir, warn)
		if err != nil {
			return nil, err
		}
		shards = append(shards, have)
	}
	if _, err := merge(shards); err != nil { // before a folder is made
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
	all := append([]*record.Collection{there}, shards...) // what is there comes first, and stays
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
	if _, err := ReadWhole(results, func(error) {}); err != nil { // a damaged record that no shard has
		return m, err
	}
	left := make(map[string]bool) // runs that are counted already
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

// err is the error of a merge that left runs over.
func (m *Merged) err() error {
	var errs []error
	if n := len(m.Unfinished); n > 0 {
		errs = append(errs, Incomplete(fmt.Errorf("unfinished runs (%d): %s; run their shards again", n, firstOf(m.Unfinished))))
	}
	if n := len(m.Failed); n > 0 {
		errs = append(errs, fmt.Errorf("%w (%d), run again by their shards or 'runall reproduce': %s", ErrRunsFailed, n, firstOf(m.Failed)))
	}
	return errors.Join(errs...)
}
