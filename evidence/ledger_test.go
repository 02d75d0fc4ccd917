package evidence

import (
	"math"
	"slices"
	"testing"

	"polkrepro/evidence/ledger"
	"polkrepro/evidence/theory/theorytest"
	"polkrepro/spec"
)

// TestEveryAnswerIsPlanned checks that the profile full has runs for every alternative that a spec
// is said to run. TestPaperReproducesItself checks that every selector selects runs.
func TestEveryAnswerIsPlanned(t *testing.T) {
	x := newIndex(Input{Plan: theorytest.Plan(t, spec.ProfileFull)})
	for _, a := range ledger.Embedded().Assumptions {
		for _, alternative := range a.Alternatives {
			for _, w := range alternative.Answers {
				if len(x.planned(w.Matches)) == 0 {
					t.Errorf("%s=%s: no run of %+v", a.ID, alternative.ID, w)
				}
			}
		}
	}
}

func near(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-9 }

// TestDependents checks that a claim names the assumption if it has other runs, another reading or no
// runs under an alternative.
func TestDependents(t *testing.T) {
	l := ledger.Embedded()
	x := newIndex(Input{Ledger: l})
	for _, a := range l.Assumptions {
		for _, alternative := range a.Alternatives {
			x.assumed = alternatives{a.ID: &alternative}
			concerned := func(s ledger.Selector) bool {
				side := x.side(s, false)
				return side.other || alternative.Run() && side.unanswered != ""
			}
			for _, c := range l.Claims {
				of := func(test ledger.Test) bool { return slices.ContainsFunc(test.Selectors(), concerned) }
				if slices.ContainsFunc(c.Tests, of) && !slices.Contains(c.Assumptions, a.ID) {
					t.Errorf("%s=%s concerns %s, which does not name the assumption", a.ID, alternative.ID, c.ID)
				}
			}
		}
	}
}

// TestDepends checks that a claim names an assumption only if the runs of one of its cells depend
// on it. Otherwise a claim would keep its verdict under an alternative that nobody has run.
func TestDepends(t *testing.T) {
	l := ledger.Embedded()
	for _, c := range l.Claims {
		for _, id := range c.Assumptions {
			depends := func(test ledger.Test) bool {
				return slices.ContainsFunc(test.Selectors(), func(s ledger.Selector) bool { return l.Depends(s.Cell, id) })
			}
			if !slices.ContainsFunc(c.Tests, depends) {
				t.Errorf("%s names %s, on which none of its cells depends", c.ID, id)
			}
		}
	}
}

// rewritten returns a copy of a ledger whose tests are modified by change, which gets the index of
// the claim and of the test.
func rewritten(l *ledger.Ledger, change func(claim, place int, test *ledger.Test)) *ledger.Ledger {
	out := *l
	out.Claims = slices.Clone(l.Claims)
	for i := range out.Claims {
		c := &out.Claims[i]
		c.Tests = slices.Clone(c.Tests)
		for k := range c.Tests {
			change(i, k, &c.Tests[k])
		}
	}
	return &out
}
