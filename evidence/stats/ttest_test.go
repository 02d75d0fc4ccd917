package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestPairedT(t *testing.T) {
	// With two degrees of freedom p = 1 − t/√(2+t²), and here t = √7: p = 1 − √7/3.
	// The 97.5 % quantile is 4.3027, the standard error √7/3.
	e := PairedT([]float64{1, 2, 4}, 0)
	near(t, "p", e.P, 1-math.Sqrt(7)/3, 1e-9)
	near(t, "low", e.Low, 7./3-4.3027*math.Sqrt(7)/3, 1e-4)
	near(t, "high", e.High, 7./3+4.3027*math.Sqrt(7)/3, 1e-4)
	if e := PairedT([]float64{0, 0, 0, 0}, 0); e.P != 1 || e.Low != 0 || e.High != 0 {
		t.Errorf("no difference: %+v", e)
	}
	if e := PairedT([]float64{2, 2, 2, 2}, 0); e.P != 0.125 {
		t.Errorf("equal differences: %+v", e)
	}
	if e := PairedT([]float64{1, 1}, 0); e.P != 1 || e.Estimate != Single(1) {
		t.Errorf("two replicates decide: %+v", e)
	}
	if e := PairedT([]float64{1, 2, 3, 4}, 2.5); e.P != 1 {
		t.Errorf("a mean as large as the slack: p %v", e.P)
	}
	// A slack of 1 leaves t = (7/3 − 1)/(√7/3) = 4/√7.
	near(t, "p beyond a slack", PairedT([]float64{1, 2, 4}, 1).P, 1-4/math.Sqrt(7)/math.Sqrt(2+16./7), 1e-9)
}

// By hand: 3·0.016, then 2·0.019, which must not be less, then 0.607.
func TestHolm(t *testing.T) {
	got := Holm([]float64{0.019, 0.607, 0.016})
	for i, want := range []float64{0.048, 0.607, 0.048} {
		near(t, "corrected p", got[i], want, 1e-12)
	}
}

// Corrected values keep the order, are at least the raw ones and at most
// Bonferroni's.
func TestHolmBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 20).Draw(t, "p")
		h := Holm(p)
		for i := range p {
			if !(h[i] >= p[i]) || h[i] > min(1, float64(len(p))*p[i]) {
				t.Fatalf("%v becomes %v", p, h)
			}
			for j := range p {
				if !(p[i] >= p[j]) && !(h[i] <= h[j]) {
					t.Fatalf("%v becomes %v", p, h)
				}
			}
		}
	})
}
