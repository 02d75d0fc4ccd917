package loss

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestSlackIsSafeAndTight: no change of all scores by less than the slack makes the gradient
// nonzero, and a change by a little more can.
func TestSlackIsSafeAndTight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := draw(t, 5)
		flat, ok := e.loss.(Flat)
		if !ok {
			return
		}
		slack := flat.Slack(e.f, e.y)
		g := make([]float64, len(e.f))
		flat.Gradient(g, e.f, e.y)
		if zero := dot(g, g) == 0; zero != (slack >= 0) && !(math.Abs(slack) <= 1e-12) {
			t.Fatalf("slack %v, gradient %v", slack, g)
		}
		if slack <= 1e-9 {
			return
		}
		moved := func(by float64) []float64 {
			f := append([]float64(nil), e.f...)
			for c := range f {
				f[c] += by
			}
			if len(f) > 1 {
				f[int(e.y)] -= 2 * by
			} else {
				f[0] -= by * (1 + e.y)
			}
			return f
		}
		flat.Gradient(g, moved(slack*(1-1e-9)), e.y)
		if dot(g, g) != 0 {
			t.Fatalf("a change of %v of all scores is within the slack, but the gradient is %v", slack, g)
		}
		flat.Gradient(g, moved(slack*(1+1e-9)+1e-12), e.y)
		if dot(g, g) == 0 {
			t.Fatalf("the slack %v is not the largest", slack)
		}
		random := append([]float64(nil), e.f...)
		for c := range random {
			random[c] += rapid.Float64Range(-1, 1).Draw(t, "change") * slack * (1 - 1e-9)
		}
		flat.Gradient(g, random, e.y)
		if dot(g, g) != 0 {
			t.Fatalf("scores %v within %v of %v have gradient %v", random, slack, e.f, g)
		}
	})
}
