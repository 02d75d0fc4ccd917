package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"polkrepro/internal/words"
	"polkrepro/record"
	"polkrepro/spec"
)

// A Gap is anything missing, with the reason. All verdicts and reports take their words from here:
// Note beside a verdict, Cell in place of a number, Sentence in a list, Lost below numbers that
// lack some of their runs, and Error as the error of a command.
type Gap struct {
	Kind GapKind
	What string         // the data set, series, profile or folder of the gap
	Why  string         // error of a failed run, how to get the data, or why the records don't answer
	Runs []spec.Planned // runs without a record
	N    int            // number of planned runs that include Runs; for Corrupt and Unfinished, the number of records
}

// A GapKind is why something is missing.
type GapKind int

// The kinds of gaps. A cell shows the first kind that applies to it.
const (
	Unavailable GapKind = iota + 1 // a data set is missing
	Failed                         // a run ended with an error
	Pending                        // a planned run has no record
	NotPlanned                     // the profile has no such run
	Unanswered                     // no spec runs the test under the assumed alternatives
	Silent                         // the existing records don't contain the answer
	Corrupt                        // a record is corrupt
	Unfinished                     // a record has no end
)

// Gaps returns the gaps of the planned runs without a record. Each run is in one gap: first the
// unavailable data sets, then the failures of each series, then the runs that are not made yet.
func Gaps(planned []spec.Planned, records map[string]*record.Record, failed, unavailable map[string]string) []*Gap {
	var gaps []*Gap
	for _, p := range spec.Distinct(planned) {
		if records[p.ID] != nil {
			continue
		}
		own := Gap{Kind: Pending}
		why, broken := failed[p.ID]
		if how, ok := unavailable[p.Run.Data.Name]; ok {
			own = Gap{Kind: Unavailable, What: p.Run.Data.Name, Why: how}
		} else if broken {
			own = Gap{Kind: Failed, What: fmt.Sprintf("%s, %s, %s", p.Run.Data.Name, p.Run.Task, p.Series), Why: why}
		}
		i := slices.IndexFunc(gaps, func(g *Gap) bool { return g.Kind == own.Kind && g.What == own.What && g.Why == own.Why })
		if i < 0 {
			i, gaps = len(gaps), append(gaps, &own)
		}
		gaps[i].Runs = append(gaps[i].Runs, p)
	}
	slices.SortStableFunc(gaps, func(a, b *Gap) int { return cmp.Compare(a.Kind, b.Kind) })
	return gaps
}

// partial reports whether some planned runs are not missing.
func (g *Gap) partial() bool { return len(g.Runs) < g.N }

// Note returns the note beside a verdict, or "" for a nil gap.
func (g *Gap) Note() string {
	switch {
	case g == nil:
		return ""
	case g.Kind == NotPlanned:
		return "not in this profile"
	case g.Kind == Failed && g.partial():
		return fmt.Sprintf("%d of %d runs failed", len(g.Runs), g.N)
	case g.Kind == Failed:
		return "failed: " + g.Why
	case g.Kind == Pending && g.partial():
		return fmt.Sprintf("%d of %d runs without a record", len(g.Runs), g.N)
	case g.Kind == Pending:
		return "no records"
	}
	return g.Why
}

// Cell returns the text in place of a number or a picture.
func (g *Gap) Cell() string {
	switch {
	case g.Kind == Unavailable:
		return "data not available"
	case g.Kind == Failed:
		return "failed: " + words.Message(g.Why)
	case g.Kind == Pending:
		return "not run yet"
	case g.What == spec.ProfileSmoke:
		return "not in the smoke profile"
	case g.What == spec.ProfileQuick:
		return "full profile only"
	}
	return "not planned"
}

// Sentence returns the gap as an entry in a list of everything missing.
func (g *Gap) Sentence() string {
	switch {
	case g.Kind == Unavailable:
		return fmt.Sprintf("Data set %s is not available: %s", g.What, words.Message(strings.TrimPrefix(strings.TrimPrefix(g.Why, g.What+": "), "data not available: ")))
	case g.Kind == Failed && len(g.Runs) == 1:
		return fmt.Sprintf("Failed: %s: %s (run %s)", g.What, words.Message(g.Why), g.Runs[0].ID)
	case g.Kind == Failed:
		return fmt.Sprintf("Failed: %s: %s (%d runs, one of them %s)", g.What, words.Message(g.Why), len(g.Runs), g.Runs[0].ID)
	case g.Kind == Corrupt:
		return fmt.Sprintf("%s %s and left out.", words.Count(g.N, "record"), damaged)
	case g.Kind == Unfinished:
		return fmt.Sprintf("%s unfinished: killed or still running.", words.Count(g.N, "run"))
	case g.Kind == Pending:
		return fmt.Sprintf("%s without a record.", words.Count(len(g.Runs), "planned run"))
	case g.What == spec.ProfileSmoke:
		return "Profile smoke: the other cells need `runall reproduce`."
	}
	return "Profile quick: some cells need `runall reproduce --profile full`."
}

// damaged describes a corrupt record, which may have been cut off.
const damaged = "incomplete or corrupt"

// mostNamed is the largest number of missing records that an error names.
const mostNamed = 5

// Error returns the error of a command for missing or corrupt records in the folder g.What.
func (g *Gap) Error() string {
	if g.Kind == Corrupt {
		return fmt.Sprintf("%s: %s %s; rerun 'runall reproduce'", g.What, words.Count(g.N, "record"), damaged)
	}
	var names []string
	for _, p := range g.Runs[:min(mostNamed, len(g.Runs))] {
		names = append(names, fmt.Sprintf("%s.jsonl (%s, %s)", p.ID, p.Spec, p.Series))
	}
	if more := len(g.Runs) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%d records missing in %s: %s", len(g.Runs), g.What, strings.Join(names, ", "))
}

// Lost says how many of the planned runs behind a number failed or are missing; it is empty if none
// are.
func Lost(planned int, gaps []*Gap) string {
	lost := make(map[bool]int) // by whether the runs failed
	for _, g := range gaps {
		lost[g.Kind == Failed] += len(g.Runs)
	}
	var texts []string
	if n := lost[true]; n > 0 {
		texts = append(texts, fmt.Sprintf("%d of %d runs failed.", n, planned))
	}
	if n := lost[false]; n > 0 {
		texts = append(texts, fmt.Sprintf("%d of %d runs are missing.", n, planned))
	}
	return strings.Join(texts, " ")
}
