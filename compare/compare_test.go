package compare

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func within(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestCurve(t *testing.T) {
	c := NewCurve([]Sample{{100, 2}, {10, 4}, {10, 6}, {0, 1}, {1000, math.NaN()}, {math.Inf(1), 1}})
	if !slices.Equal(c, Curve{{10, 5}, {100, 2}}) {
		t.Fatalf("curve %v", c)
	}
	for _, test := range []struct{ cost, want float64 }{{10, 5}, {100, 2}, {math.Sqrt(1000), 3.5}} {
		if got, ok := c.At(test.cost); !ok || !(math.Abs(got-test.want) <= 1e-12) {
			t.Errorf("at %v: %v %v, want %v", test.cost, got, ok, test.want)
		}
	}
	for _, outside := range []float64{9.99, 100.01, math.NaN()} {
		if v, ok := c.At(outside); ok {
			t.Errorf("extrapolated to %v: %v", outside, v)
		}
	}
	if _, ok := (Curve{}).At(1); ok {
		t.Error("a value of an empty curve")
	}
}

// A curve lies between its neighbours everywhere and does not depend on the
// order of the runs.
func TestCurveBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Sample {
			return Sample{rapid.Float64Range(1, 1e4).Draw(t, "cost"), rapid.Float64Range(0, 1).Draw(t, "value")}
		}), 1, 8).Draw(t, "samples")
		c := NewCurve(samples)
		slices.Reverse(samples)
		for i, s := range NewCurve(samples) {
			if s.Cost != c[i].Cost || !(math.Abs(s.Value-c[i].Value) <= 1e-12) {
				t.Fatalf("%v and reversed %v", c, s)
			}
		}
		low, high := c[0].Cost, c[len(c)-1].Cost
		at := rapid.Float64Range(low, high).Draw(t, "at")
		v, ok := c.At(at)
		least, most := math.Inf(1), math.Inf(-1)
		for _, s := range c {
			least, most = min(least, s.Value), max(most, s.Value)
		}
		if !ok || !(v >= least-1e-12) || v > most+1e-12 {
			t.Fatalf("%v at %v: %v", c, at, v)
		}
	})
}
