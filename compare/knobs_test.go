package compare

import (
	"errors"
	"slices"
	"testing"

	"polkrepro/harness"
	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
	"polkrepro/polk/prune"
)

// TestTournament checks that the tournament is the golden one, and that a finished search is not
// repeated.
func TestTournament(t *testing.T) {
	if testing.Short() {
		t.Skip("a search of hundreds of runs: minutes under the race detector, and the commands' tests make one")
	}
	opt := options(t, 250)
	heuristics := []string{"komp", "coherence", "merging"}
	opt.Results = t.TempDir()
	text, err := SettleHeuristics(t.Context(), opt, heuristics, nil)
	testutil.NoError(t, err)
	golden.Check(t, "testdata/tournament.yaml", string(text))
	var said []string
	opt.Before, opt.Note = text, func(format string, _ ...any) { said = append(said, format) }
	repeated, err := SettleHeuristics(t.Context(), opt, heuristics, nil)
	if err != nil || string(repeated) != string(text) || len(said) != 1 {
		t.Errorf("again: %v, said %q", err, said)
	}
	if _, err := SettleHeuristics(t.Context(), opt, heuristics[:2], nil); !errors.Is(err, harness.ErrUsage) {
		t.Errorf("the spec of other heuristics: %v", err)
	}
}

// TestKnobSearch checks that a level that no value reaches moves the knob by a step of its grid,
// within its range, and that a level between distant values gets two more beside it. The search
// keeps the values next to the levels and beyond the ends.
func TestKnobSearch(t *testing.T) {
	s := knobSearch{knob: prune.Param{Grid: []float64{0.4, 0.8}, Above: prune.Bound(0), Most: prune.Bound(1)}}
	s.add(0.4, []float64{19, 21})
	s.add(0.8, []float64{50})
	for _, tt := range []struct {
		levels []int
		want   []float64
	}{
		{[]int{10}, []float64{0.2}},
		{[]int{100}, []float64{0.9}},
		{[]int{20}, []float64{0.2, 0.415}}, // its replicates straddle the level
		{[]int{30}, []float64{0.524, 0.564}},
		{[]int{50}, []float64{0.9}},
	} {
		if got := s.next(tt.levels, near); !slices.Equal(got, tt.want) {
			t.Errorf("levels %v: next %v, want %v", tt.levels, got, tt.want)
		}
	}
	s = knobSearch{}
	for i, order := range []float64{1, 8, 20, 21, 60, 200, 300} {
		s.add(float64(i+1), []float64{order})
	}
	var orders []float64
	for _, v := range s.kept([]int{10, 100}) {
		orders = append(orders, v.middle())
	}
	if !slices.Equal(orders, []float64{8, 20, 60, 200}) {
		t.Errorf("orders %v", orders)
	}
}
