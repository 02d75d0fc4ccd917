package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"polkrepro/data"
	"polkrepro/internal/until"
	"polkrepro/internal/words"
	"polkrepro/spec"
)

// An Unavailable is a data set that is not available here.
type Unavailable struct {
	Ref  data.Ref `json:"ref"`
	Runs int      `json:"runs"` // number of runs not started because the data set is missing
	Why  string   `json:"why"`  // places searched for the data set, and how to get it
}

// String returns the data set, the number of runs not started, and the reason.
func (u Unavailable) String() string {
	return fmt.Sprintf("%s: %s not started: %s", u.Ref, words.Count(u.Runs, "run"), u.Why)
}

// NotFound returns the data sets of a plan whose files are missing, in the plan's order. It
// does not load data or set Runs.
func NotFound(finder data.Finder, plan []spec.Planned) []Unavailable {
	var absent []Unavailable
	seen := make(map[data.Ref]bool)
	for _, p := range plan {
		ref := p.Run.Data
		whole := wholeOf(ref)
		if seen[whole] {
			continue
		}
		seen[whole] = true
		if err := finder.Available(ref); errors.Is(err, data.ErrNotAvailable) {
			absent = append(absent, Unavailable{Ref: ref, Why: err.Error()})
		}
	}
	return absent
}

// wholeOf returns the reference without what data sets of the same files differ in: variants, draws and splits.
func wholeOf(ref data.Ref) data.Ref {
	whole := data.Ref{Name: ref.Name, Files: ref.Files}
	whole.Files.SplitSeed = 0
	return whole
}

// loadAll loads the data sets of a plan, so that a damaged file is found before
// training. It returns the sets by the runs' references, and the unavailable sets.
func loadAll(ctx context.Context, finder data.Finder, plan []spec.Planned) (map[data.Ref]*data.Set, []Unavailable, error) {
	sets, unavailable := make(map[data.Ref]*data.Set), []Unavailable{}
	for _, p := range plan {
		ref := p.Run.Data
		if i := slices.IndexFunc(unavailable, func(u Unavailable) bool { return wholeOf(u.Ref) == wholeOf(ref) }); i >= 0 {
			unavailable[i].Runs++
			continue
		}
		if sets[ref] != nil {
			continue
		}
		var set *data.Set
		var err error
		if !until.Done(ctx, func() { set, err = data.Load(ref, finder) }) {
			return nil, nil, context.Cause(ctx)
		}
		switch {
		case err == nil:
			sets[ref] = set
		case errors.Is(err, data.ErrNotAvailable):
			unavailable = append(unavailable, Unavailable{Ref: ref, Runs: 1, Why: err.Error()})
		default:
			return nil, nil, err
		}
	}
	slices.SortStableFunc(unavailable, func(a, b Unavailable) int { return cmp.Compare(a.Ref.String(), b.Ref.String()) })
	return sets, unavailable, nil
}

// requireAll returns an error for required data sets that are unavailable.
func requireAll(unavailable []Unavailable) error {
	errs := make([]error, len(unavailable))
	for i, u := range unavailable {
		errs[i] = fmt.Errorf("%w: %s", ErrMissingData, u.Why)
	}
	return errors.Join(errs...)
}
