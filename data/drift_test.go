package data

import (
	"math"
	"testing"
)

// TestDriftMoves checks that the best classifier of a window's own mixture reaches the Bayes
// error on that window, within chance, at the beginning, in the middle and at the end. The
// best classifier of the beginning has a high error rate half way.
func TestDriftMoves(t *testing.T) {
	s := Drift(FigureDraw().Seed)
	if s.Windows != 40 || s.Train.N != 20000 || s.Test.N != 20000 {
		t.Fatalf("shape: %d windows, %d and %d examples", s.Windows, s.Train.N, s.Test.N)
	}
	means := MultidistMeans(FigureDraw().Seed)
	wrong := func(window int, fraction float64) float64 {
		n := 0
		for i := window * driftTest; i < (window+1)*driftTest; i++ {
			if nearestMode(means, s.Test.Row(i), driftTurns*fraction) != s.Test.Y[i] {
				n++
			}
		}
		return float64(n) / driftTest
	}
	for _, w := range []int{0, 7, 20, 39} {
		if e := wrong(w, float64(w+1)/driftWindows); !(e <= s.Facts["bayes_error"]+0.03) { // three standard errors
			t.Errorf("window %d: the mixture's own means err in %.3f", w, e)
		}
	}
	if e := wrong(20, 0); !(e >= 0.3) {
		t.Errorf("the first means err in %.3f only in the middle", e)
	}
}

// nearestMode classifies x by the nearest of the rotated means. This is close to the Bayes
// rule where modes overlap little.
func nearestMode(means [][][2]float64, x []float32, quarters float64) float64 {
	best, class := math.Inf(1), 0.0
	for y := range means {
		for _, m := range means[y] {
			a, b := turned(m[0], m[1], quarters)
			if d := math.Hypot(a-float64(x[0]), b-float64(x[1])); d < best {
				best, class = d, float64(y)
			}
		}
	}
	return class
}
