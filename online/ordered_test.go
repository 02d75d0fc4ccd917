package online

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"polkrepro/data/rows"
)

// walks returns n rows of three features that walk at random; the label says on which side a fourth walk,
// which has nothing to do with them, is of the hills of a sine.
func walks(n int, seed uint64) []string {
	rng := rand.New(rand.NewPCG(seed, 54))
	var at [4]float64
	rows := make([]string, n)
	for i := range rows {
		for q := range at {
			at[q] += rng.NormFloat64()
		}
		rows[i] = fmt.Sprintf("%.3f,%.3f,%.3f,%v", at[0], at[1], at[2], math.Sin(at[3]/4) > 0)
	}
	return rows
}

// With held-out rows among those learned, a walk looks predictable. Its last rows err as those that follow.
func TestOrdered(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: arithmetic alone")
	}
	const walked = 8
	for _, tt := range []struct {
		ordered     bool
		least, most float64 // of the error on later rows minus that on held-out rows
	}{{false, 0.2, 1}, {true, -0.1, 0.1}} {
		held, later := 0.0, 0.0
		for seed := range uint64(walked) {
			walk := walks(1600, seed)
			opt := tuning("multi-hinge", file(t, walk[:1200]))
			opt.Ordered, opt.Order, opt.Settings.Scale, opt.Settings.Bandwidth = tt.ordered, 64, rows.ScaleStandard, 0.3
			m := mustTrain(t, opt)
			h, _ := m.Settings().HeldOut()
			held, later = held+h.Error/walked, later+float64(evaluation(t, m, walk[1200:]).Error)/walked
		}
		if gap := later - held; !(gap >= tt.least && gap <= tt.most) {
			t.Errorf("ordered %v: error %.3f on held-out rows, %.3f on later ones", tt.ordered, held, later)
		}
		t.Logf("ordered %v: error %.3f on held-out rows, %.3f on later ones", tt.ordered, held, later)
	}
}
