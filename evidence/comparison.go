package evidence

import (
	"slices"

	"polkrepro/evidence/stats"
)

// A Comparison says where the verdicts of an assessment differ from those of a
// reference.
type Comparison struct {
	Same        int          `json:"same"`                   // number of claims with the same verdict
	NotRun      int          `json:"not_run"`                // number of claims that the plan does not run
	Changed     []Difference `json:"changed,omitempty"`      // claims with different verdicts; missing if there are none
	NotCompared []Difference `json:"not_compared,omitempty"` // claims that lack runs on one side, so that the verdicts rest on different runs; missing if there are none
}

// A Difference is a claim with its verdicts on both sides, worded as by [ClaimResult.Outcome].
type Difference struct {
	Claim     string `json:"claim"`     // ID of the claim
	Here      string `json:"here"`      // verdict of the assessment
	Reference string `json:"reference"` // verdict of the reference
}

// CompareTo compares the verdicts with those of a reference. Both must be of the
// same ledger, plan and assumptions. A deviation with an explanation and one
// without are different verdicts. A claim is compared only if both sides have all
// of its planned runs.
func (a *Assessment) CompareTo(reference *Assessment) *Comparison {
	out := new(Comparison)
	for i := range a.Claims {
		here, there := &a.Claims[i], &reference.Claims[i]
		d := Difference{here.Claim.ID, here.Outcome(), there.Outcome()}
		switch {
		case here.lacksRuns() || there.lacksRuns():
			out.NotCompared = append(out.NotCompared, d)
		case d.Here != d.Reference:
			out.Changed = append(out.Changed, d)
		case here.Verdict == stats.NotRun:
			out.NotRun++
		default:
			out.Same++
		}
	}
	return out
}

// Incomplete reports whether planned runs of the claim have no record, or a test
// of it has no runs at all.
func (c *ClaimResult) Incomplete() bool {
	return c.lacksRuns() || slices.ContainsFunc(c.Tests, func(t Finding) bool { return t.Verdict == stats.NotRun })
}

// lacksRuns reports whether planned runs of the claim have no record.
func (c *ClaimResult) lacksRuns() bool {
	return slices.ContainsFunc(c.Tests, func(t Finding) bool { return len(t.Of.Missing)+len(t.To.Missing) > 0 })
}
