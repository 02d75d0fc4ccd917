package bsgd

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"polkrepro/kernel"
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
		// direct loses the digits of 1/r².
		if got, want := kernel.MergeLoss(r, c, kappa, h), direct(r, c, kappa, h); math.Abs(got-want) > 1e-14/(r*r) {
			t.Fatalf("loss %v, by definition %v", got, want)
		}
	})
	for _, tt := range []struct{ r, c, kappa, h, want float64 }{
		{0.5, 1, 0, 0, 1},         // orthogonal: nothing of p survives
		{0.5, -0.3, 1, 0.3, 0},    // the same point
		{0.5, 1, 0.6, 0, 1 - .36}, // p projected on n
		{0, 1, 0.6, 0, 1 - .36},
	} {
		if got := kernel.MergeLoss(tt.r, tt.c, tt.kappa, tt.h); math.Abs(got-tt.want) > 1e-15 {
			t.Errorf("MergeLoss(%v) = %v", tt, got)
		}
	}
}

// The point found is at least as good as every other one on the segment, on
// both sides of ½: this is what the single sign change in [0, ½] and the
// symmetry argument of mergeloss.go come to.
func TestMergePointIsTheBest(t *testing.T) {
	const n = 400
	check := func(r, c, kappa float64) {
		h := kernel.MergePoint(r, c, kappa)
		if !(h >= 0 && h <= 0.5) {
			t.Fatalf("h = %v at r=%v c=%v κ=%v", h, r, c, kappa)
		}
		got := kernel.MergeLoss(r, c, kappa, h)
		for i := range n + 1 {
			if other := kernel.MergeLoss(r, c, kappa, float64(i)/n); other < got-1e-13/(r*r) {
				t.Fatalf("r=%v c=%v κ=%v: %v at h=%v, but %v at %v", r, c, kappa, got, h, other, float64(i)/n)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		check(math.Max(1e-3, rng.Float64()), 2*rng.Float64()-1, rng.Float64())
		check(1-rng.Float64()/100, 2*rng.Float64()-1, math.Exp(-4*rng.Float64())) // both sides of e⁻², r near 1
		check(rng.Float64(), -rng.Float64(), 1-rng.Float64()/1000)
	}
	if h := kernel.MergePoint(1, 1, 0.5); h != 0.5 {
		t.Errorf("equal elements merge at h = %v, not exactly halfway", h)
	}
}

// The resolution: over random arguments the interpolated degradation is off
// by less than 4e-3 of ‖α_p‖², and on average by less than 2e-4.
func TestTableError(t *testing.T) {
	start := time.Now()
	table := mergeLosses()
	t.Logf("table of %d values in %v at most", (tableK+1)*(tableR+1)*(tableC+1), time.Since(start))
	rng := rand.New(rand.NewPCG(3, 1))
	var worst, sum, binary float64
	const n = 50000
	for i := range n {
		r, c, kappa := rng.Float64(), 2*rng.Float64()-1, rng.Float64()
		if i%4 == 0 {
			c = math.Copysign(1, c)
		}
		e := math.Abs(table.at(r, c, kappa) - kernel.MergeLoss(r, c, kappa, kernel.MergePoint(r, c, kappa)))
		worst, sum = math.Max(worst, e), sum+e
		if i%4 == 0 {
			binary = math.Max(binary, e)
		}
	}
	t.Logf("interpolation error: worst %.1e (binary case %.1e), mean %.1e", worst, binary, sum/n)
	if !(worst < 4e-3 && sum/n < 2e-4) {
		t.Errorf("interpolation error %v, mean %v", worst, sum/n)
	}
}

// The partner that comes out of the shortlist is the one that the search over
// all partners finds, or one as good to 1e-3 of what a merge costs.
func TestShortlist(t *testing.T) {
	const trials, order = 200, 200
	other := 0
	for seed := range uint64(trials) {
		rng := rand.New(rand.NewPCG(seed, 7))
		m, g := randomModel(rng, order), newMerging(5)
		p := m.weakest(m.births)
		g.propose(m, p)
		best, found := candidate{loss: math.Inf(1)}, candidate{loss: math.Inf(1)}
		for j := range m.order() {
			if c := (candidate{index: j}); j != p {
				g.search(m, p, &c)
				if c.loss < best.loss {
					best = c
				}
			}
		}
		for _, c := range g.ranked {
			g.search(m, p, &c)
			if c.loss < found.loss {
				found = c
			}
		}
		if found.index != best.index {
			other++
		}
		if found.loss > best.loss+1e-3 {
			t.Errorf("trial %d: shortlist costs %v, the best partner %v", seed, found.loss, best.loss)
		}
	}
	t.Logf("another partner than the full search in %d of %d", other, trials)
	if other > trials/100 {
		t.Errorf("another partner than the full search in %d of %d", other, trials)
	}
}

// randomModel has points in a cube of side 2 with kernel bandwidth ½, and weights
// on five classes, some of them on two classes only as fresh ones are.
func randomModel(rng *rand.Rand, order int) *model {
	const dim, classes = 3, 5
	m := newModel(kernel.Gaussian{Bandwidth: 0.5}, dim, classes, order)
	x := make([]float32, dim)
	for j := range order {
		for i := range x {
			x[i] = 2 * rng.Float32()
		}
		m.append(x)
		if j%2 == 0 {
			m.weights(rng.IntN(2))[j] = 1
			m.weights(2 + rng.IntN(3))[j] = -1
		} else {
			for c := range classes {
				m.weights(c)[j] = 2 * rng.NormFloat64()
			}
		}
		m.reweigh(j)
	}
	return m
}

// Duplicates merge for nothing, and the last element of all can merge too.
func TestMergeExtremes(t *testing.T) {
	c := config(Merging, 1)
	l := learner(t, c)
	x := []float32{1, 2, 3, 4, 1, 2, 3, 4}
	for _, labels := range [][]float64{{0, 1}, {2, 0}, {1, 1}} {
		if _, err := l.Step(t.Context(), 2, x, labels); err != nil {
			t.Fatal(err)
		}
	}
	h := l.Health()
	if l.Expansion().Order() != 1 || h["maintenances"] == 0 || h["degradation"] > 1e-12 {
		t.Errorf("order %d, %v", l.Expansion().Order(), h)
	}
	far := []float32{1e3, 0, 0, 0}
	if _, err := l.Step(t.Context(), 1, far, []float64{1}); err != nil {
		t.Fatal(err)
	}
	if err := sound(l); err != nil {
		t.Error(err)
	}
}
