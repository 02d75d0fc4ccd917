package fmapeak

import "testing"

// TestRun checks that the count is what was asked for, up to one round.
func TestRun(t *testing.T) {
	if Run(16, 1000) != 0 {
		t.Error("16 bits: operations performed")
	}
	for bits, l := range loops {
		round := 2 * chains * l.lanes
		for _, c := range []struct{ work, want int }{{1, round}, {round, round}, {100*round + 1, 100 * round}} {
			if got := Run(bits, c.work); got != c.want {
				t.Errorf("%d bits: asked for %d operations, got %d, want %d", bits, c.work, got, c.want)
			}
		}
	}
}
