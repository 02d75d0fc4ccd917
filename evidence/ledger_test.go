package evidence

import (
	"math"
	"slices"
	"testing"

	"polkrepro/evidence/theory/theorytest"
	"polkrepro/experiments"
)

// TestEveryAnswerIsPlanned checks that the profile full has runs for every alternative that a spec
// is said to run. TestPaperReproducesItself checks that every selector selects runs.
func TestEveryAnswerIsPlanned(t *testing.T) {
	x := newIndex(Input{Plan: theorytest.Plan(t, experiments.ProfileFull)})
	for _, a := range experiments.Ledgers().Assumptions {
		for _, alternative := range a.Alternatives {
			for _, w := range alternative.Answers {
				if len(x.planned(w.Matches)) == 0 {
					t.Errorf("%s=%s: no run of %+v", a.ID, alternative.ID, w)
				}
			}
		}
	}
}

// TestMargins checks the targets that the margins of sentences give. TestForestNumbers and
// TestForestSentences of package report check the margins of the tables' numbers and one-sided
// bounds.
func TestMargins(t *testing.T) {
	l := experiments.Ledgers()
	for _, c := range []struct {
		claim, test string
		low, high   float64
	}{
		{"multidist.between-4-and-5", "error-75-least", 4, math.Inf(1)},
		{"multidist.learned-order", "modes-30[POLK on 30 modes]", 25.5, 34.5},
		{"multidist.like-libsvm", "error", -0.5, 0.5},
		{"brodatz.near-96", "similar", -1, 1},
		{"brodatz.like-batch", "error", math.Inf(-1), 0.5},
	} {
		claim := l.Claim(c.claim)
		i := slices.IndexFunc(claim.Tests, func(t experiments.Test) bool { return t.ID == c.test })
		low, high := claim.Tests[i].Target()
		if !near(low, c.low) || !near(high, c.high) {
			t.Errorf("%s.%s: %v to %v, want %v to %v", c.claim, c.test, low, high, c.low, c.high)
		}
	}
	less := l.Claim("multidist.beats-lbfgs").Tests[0]
	if _, high := less.Target(); !(high < 0) || !(high >= -1e-300) {
		t.Errorf("less than 0 is at most %v", high)
	}
}

func near(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-9 }

func TestDependents(t *testing.T) {
	l := experiments.Ledgers()
	got := l.Dependents("bsgd-maintenance")
	for id, want := range map[string]bool{
		"table2.multidist.ksvm.bsgd": true, "table3.brodatz.ksvm.bsgd": true, "mnist.beats-bsgd": true, "table2.multidist.klr.polk": false,
	} {
		if slices.Contains(got, id) != want {
			t.Errorf("%s depends on BSGD's maintenance: %v", id, !want)
		}
	}
	if got := l.Dependents("nonsense"); got != nil {
		t.Errorf("%v depend on nonsense", got)
	}
	// A claim that has other runs or another reading under an alternative depends on
	// the assumption.
	x := newIndex(Input{Ledger: l})
	for _, a := range l.Assumptions {
		for _, alternative := range a.Alternatives {
			x.assumed = alternatives{a.ID: &alternative}
			touched := func(test experiments.Test) bool { return slices.ContainsFunc(test.Selectors(), x.touched) }
			for _, c := range l.Claims {
				if slices.ContainsFunc(c.Tests, touched) && !slices.Contains(c.Assumptions, a.ID) {
					t.Errorf("%s=%s concerns %s, which does not name the assumption", a.ID, alternative.ID, c.ID)
				}
			}
		}
	}
}

// TestDepends checks that a claim names an assumption only if the runs of one of its cells depend
// on it. Otherwise a claim would keep its verdict under an alternative that nobody has run.
func TestDepends(t *testing.T) {
	l := experiments.Ledgers()
	for _, c := range l.Claims {
		for _, id := range c.Assumptions {
			depends := func(test experiments.Test) bool {
				return slices.ContainsFunc(test.Selectors(), func(s experiments.Selector) bool { return l.Depends(s.Cell, id) })
			}
			if !slices.ContainsFunc(c.Tests, depends) {
				t.Errorf("%s names %s, on which none of its cells depends", c.ID, id)
			}
		}
	}
	for _, x := range []struct {
		cell, assumption string
		want             bool
	}{
		{"table2.multidist.ksvm.polk-large", "mini-batch", true}, // as the row that the paper prints
		{"table2.multidist.ksvm.lbfgs", "mini-batch", false},
		{"table3.mnist.klr.polk-small", "epochs-mnist", true},
		{"table3.mnist.klr.nystrom", "bandwidth", false}, // no claim is about this cell
	} {
		if got := l.Depends(x.cell, x.assumption); got != x.want {
			t.Errorf("%s depends on %s: %v", x.cell, x.assumption, got)
		}
	}
}

// rewritten returns a copy of a ledger whose tests are modified by change, which gets the index of
// the claim and of the test.
func rewritten(l *experiments.Ledger, change func(claim, place int, test *experiments.Test)) *experiments.Ledger {
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
