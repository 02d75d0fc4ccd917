package lbfgs

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

var losses = []dualLoss{hinge{}, logistic{}}

func drawLoss(t *rapid.T) dualLoss { return rapid.SampledFrom(losses).Draw(t, "loss") }

// drawScores draws C scores, some of which may tie.
func drawScores(t *rapid.T, classes int) []float64 {
	one := rapid.OneOf(rapid.Float64Range(-6, 6), rapid.SampledFrom([]float64{-1, 0, 1}))
	return rapid.SliceOfN(one, classes, classes).Draw(t, "f")
}

// onDomain fails unless u + e_y is on the simplex.
func onDomain(t *rapid.T, u []float64, y int) {
	var sum float64
	for c, v := range u {
		sum += v
		if c == y {
			v++
		}
		if !(v >= -1e-15 && v <= 1+1e-15) {
			t.Fatalf("u = %v leaves the domain of the conjugate for class %d", u, y)
		}
	}
	if !(math.Abs(sum) <= 1e-14) {
		t.Fatalf("u = %v sums to %v", u, sum)
	}
}

func dot(x, y []float64) float64 {
	var sum float64
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// TestSmoothedLosses: the gradient agrees with finite differences and is a dual point, and
// ℓ − μ ≤ ℓ_μ ≤ ℓ.
func TestSmoothedLosses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLoss(t)
		classes := rapid.IntRange(2, 7).Draw(t, "classes")
		y := rapid.IntRange(0, classes-1).Draw(t, "y")
		f := drawScores(t, classes)
		mu := l.smoothing() * rapid.SampledFrom([]float64{2, 1, 0.1, 1e-3}).Draw(t, "mu")
		u, other := make([]float64, classes), make([]float64, classes)
		value, exact := l.smooth(u, f, y, mu), l.Value(f, float64(y))
		onDomain(t, u, y)
		if !(value <= exact+1e-12) || value < exact-mu-1e-12 {
			t.Fatalf("ℓ_μ = %v, ℓ = %v, μ = %v", value, exact, mu)
		}
		if exact == 0 && (value != 0 || dot(u, u) != 0) {
			t.Fatalf("the margin is met: value %v, gradient %v", value, u)
		}
		// The second derivative is at most 1/μ, so that central differences
		// err by h/μ near kinks of the gradient.
		h := 1e-6 * max(mu, 1e-2)
		for c := range f {
			was := f[c]
			f[c] = was + h
			up := l.smooth(other, f, y, mu)
			f[c] = was - h
			down := l.smooth(other, f, y, mu)
			f[c] = was
			bound := 1e-14/h + h
			if mu > 0 {
				bound += h / mu
			}
			if d := (up - down) / (2 * h); !(math.Abs(d-u[c]) <= 10*bound) {
				t.Fatalf("derivative %d is %v, differences say %v", c, u[c], d)
			}
		}
	})
}

// TestFenchelYoung: ℓ(f) + ℓ*(u) ≥ u·f for every u of the domain, with
// equality where u is a subgradient.
func TestFenchelYoung(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLoss(t)
		classes := rapid.IntRange(2, 7).Draw(t, "classes")
		y := rapid.IntRange(0, classes-1).Draw(t, "y")
		f := drawScores(t, classes)
		u := rapid.SliceOfN(rapid.Float64Range(-1, 2), classes, classes).Draw(t, "p")
		projectSimplex(u)
		u[y]--
		exact := l.Value(f, float64(y))
		if slack := exact + l.conjugate(u, y) - dot(u, f); !(slack >= -1e-12) {
			t.Fatalf("ℓ + ℓ* − u·f = %v", slack)
		}
		l.Gradient(u, f, float64(y))
		if slack := exact + l.conjugate(u, y) - dot(u, f); !(math.Abs(slack) <= 1e-12) {
			t.Fatalf("at a subgradient, ℓ + ℓ* − u·f = %v", slack)
		}
	})
}

// TestProjectSimplex compares the projection with bisection on the threshold.
func TestProjectSimplex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]float64{0.1, 1, 1e6}).Draw(t, "size")
		v := rapid.SliceOfN(rapid.Float64Range(-size, size), 1, 9).Draw(t, "v")
		lo, hi := -size-1, size
		for range 200 {
			var sum float64
			mid := lo + (hi-lo)/2
			for _, a := range v {
				sum += max(0, a-mid)
			}
			if sum > 1 {
				lo = mid
			} else {
				hi = mid
			}
		}
		p := append([]float64(nil), v...)
		projectSimplex(p)
		for c, a := range v {
			if want := max(0, a-lo); !(math.Abs(p[c]-want) <= 1e-14*max(1, size)*10) {
				t.Fatalf("projection of %v is %v, entry %d should be %v", v, p, c, want)
			}
		}
	})
}

// TestProjectionOfHugeEntries: huge entries lose no accuracy, and the projection of a NaN ends.
func TestProjectionOfHugeEntries(t *testing.T) {
	v := []float64{1e20, 1e20, -1e300, 3}
	projectSimplex(v)
	if v[0] != 0.5 || v[1] != 0.5 || v[2] != 0 || v[3] != 0 {
		t.Errorf("got %v, want halves on the first two", v)
	}
	// Rounding puts an entry above the threshold computed from the other entries, and below the
	// threshold computed with it.
	v = []float64{0, -0.40963751320968061, -0.70481875660484017}
	projectSimplex(v)
	compare(t, "projection", v, []float64{0.70481875660484017, 0.29518124339515956, 0}, 1e-15)
	v = []float64{math.NaN(), 1}
	projectSimplex(v)
	if v[0] == v[0] && v[1] == v[1] {
		t.Errorf("a NaN became %v", v)
	}
}
