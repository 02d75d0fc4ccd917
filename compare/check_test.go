//go:build check

package compare_test

import (
	"slices"
	"testing"

	"polkrepro/compare"
	"polkrepro/experiments"
)

// TestCheckCopyIsNotDifferent: random against itself under another name, with chance
// of its own, in 100 tournaments of five seeds each: some five are wrong.
func TestCheckCopyIsNotDifferent(t *testing.T) {
	tour, plan, records := carriedOut(t, "random", "test-random", "500")
	wrong := 0
	for first := 1; first <= 500; first += 5 {
		some := slices.DeleteFunc(slices.Clone(plan), func(c experiments.Contest) bool { return c.Replicate < first || c.Replicate >= first+5 })
		c := compare.New(tour, experiments.ProfileSmoke, some, records).Fields[0].Entries[1].Compared[compare.ErrorAtOrder]
		if c.N != 5 || !slices.Contains([]compare.Verdict{compare.Open, compare.TooCoarse, compare.Better, compare.Worse}, c.Verdict) {
			t.Fatalf("seeds from %d on: %+v", first, c)
		}
		if c.Verdict == compare.Better || c.Verdict == compare.Worse {
			wrong++
		}
	}
	t.Logf("%d of 100 tournaments call random different from itself", wrong)
	if wrong > 12 { // more than that has a probability below 0.002 at 5 %
		t.Errorf("%d of 100 tournaments call random different from itself", wrong)
	}
}
