package merged

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// direct is D/‖α_p‖² by its definition, for ‖α_p‖ = r and ‖α_n‖ = 1.
func direct(r, c, kappa, h float64) float64 {
	kp, kn := math.Pow(kappa, (1-h)*(1-h)), math.Pow(kappa, h*h)
	z := r*r*kp*kp + kn*kn + 2*r*c*kp*kn
	return (r*r + 1 + 2*r*c*kappa - z) / (r * r)
}

func TestMergeLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, c := rapid.Float64Range(0.01, 1).Draw(t, "r"), rapid.Float64Range(-1, 1).Draw(t, "c")
		kappa, h := rapid.Float64Range(1e-9, 1).Draw(t, "κ"), rapid.Float64Range(0, 1).Draw(t, "h")
		// direct loses as many digits as 1/r² has.
		if got, want := Loss(r, c, kappa, h), direct(r, c, kappa, h); !(math.Abs(got-want) <= 1e-14/(r*r)) {
			t.Fatalf("loss %v, by definition %v", got, want)
		}
	})
	for _, tt := range []struct{ r, c, kappa, h, want float64 }{
		{0.5, 1, 0, 0, 1},         // orthogonal: nothing of p survives
		{0.5, -0.3, 1, 0.3, 0},    // the same point
		{0.5, 1, 0.6, 0, 1 - .36}, // p projected on n
		{0, 1, 0.6, 0, 1 - .36},
	} {
		if got := Loss(tt.r, tt.c, tt.kappa, tt.h); !(math.Abs(got-tt.want) <= 1e-15) {
			t.Errorf("Loss(%v) = %v", tt, got)
		}
	}
}

// The point found is at least as good as every other point of the segment, on both sides of ½.
// This checks the single sign change in [0, ½] and the symmetry argument on which Point
// relies.
func TestPointIsTheBest(t *testing.T) {
	const n = 400
	check := func(r, c, kappa float64) {
		h := Point(r, c, kappa)
		if !(h >= 0 && h <= 0.5) {
			t.Fatalf("h = %v at r=%v c=%v κ=%v", h, r, c, kappa)
		}
		got := Loss(r, c, kappa, h)
		for i := range n + 1 {
			if other := Loss(r, c, kappa, float64(i)/n); !(other >= got-1e-13/(r*r)) {
				t.Fatalf("r=%v c=%v κ=%v: %v at h=%v, but %v at %v", r, c, kappa, got, h, other, float64(i)/n)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		check(math.Max(1e-3, rng.Float64()), 2*rng.Float64()-1, rng.Float64())
		check(1-rng.Float64()/100, 2*rng.Float64()-1, math.Exp(-4*rng.Float64())) // κ on both sides of e⁻², r near 1
		check(rng.Float64(), -rng.Float64(), 1-rng.Float64()/1000)
	}
	if h := Point(1, 1, 0.5); h != 0.5 {
		t.Errorf("equal elements merge at h = %v, not exactly halfway", h)
	}
}
