package theory

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/record"
	"polkrepro/spec"
)

// constantRun is a run of POLK with a constant learning rate.
func constantRun(rate, parsimony, lambda float64) spec.Run {
	return spec.Run{Method: spec.MethodPOLK, Params: spec.Params{
		Kernel: spec.Kernel{Type: "gaussian", Bandwidth: 0.6}, Schedule: spec.ScheduleConstant,
		LearningRate: rate, Parsimony: parsimony, Regularizer: lambda, BatchSize: 1,
	}}
}

// descent is −ηλ·d² + 2ε·d + η²σ² with ε = K·η^{3/2} (eq. martingale_construct2), and the
// size of its terms.
func descent(eta, k, lambda, variance, d float64) (value, size float64) {
	a, b, c := -eta*lambda*d*d, 2*k*eta*math.Sqrt(eta)*d, eta*eta*variance
	return a + b + c, math.Abs(a) + math.Abs(b) + c
}

func drawConstants(t *rapid.T) (eta, k, lambda, variance float64) {
	return rapid.Float64Range(1e-3, 1).Draw(t, "η"), rapid.Float64Range(0, 1).Draw(t, "K"),
		rapid.Float64Range(1e-6, 1).Draw(t, "λ"), rapid.Float64Range(0.01, 10).Draw(t, "σ²")
}

// TestRadius checks that Δ is the positive root of descent's polynomial. The first expression of
// eq. quadratic_formula has 2ε instead of −2ε, and neither of its values is a root.
func TestRadius(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eta, k, lambda, variance := drawConstants(t)
		d := Radius(constantRun(eta, k, lambda), variance)
		if rest, size := descent(eta, k, lambda, variance, d); d <= 0 || !(math.Abs(rest) <= 1e-12*size) {
			t.Fatalf("Δ = %v leaves %v", d, rest)
		}
		if k < 0.01 { // without ε the two forms are equal
			return
		}
		eps := k * eta * math.Sqrt(eta)
		for _, sign := range []float64{-1, 1} {
			printed := (2*eps + sign*math.Sqrt(4*eps*eps+4*lambda*eta*eta*eta*variance)) / (-2 * lambda * eta)
			if rest, size := descent(eta, k, lambda, variance, printed); !(math.Abs(rest) >= 1e-12*size) {
				t.Fatalf("the printed root %v leaves %v", printed, rest)
			}
		}
	})
}

// TestStoppingProcess checks that the polynomial is negative beyond Δ, and falls with the distance.
// So the condition of eq. delta, that the polynomial exceed Δ, fails wherever it is needed.
func TestStoppingProcess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eta, k, lambda, variance := drawConstants(t)
		radius := Radius(constantRun(eta, k, lambda), variance)
		last := 0.0
		for _, times := range []float64{1.01, 1.5, 3, 10} {
			v, _ := descent(eta, k, lambda, variance, times*radius)
			if !(v < last) {
				t.Fatalf("at %v Δ the polynomial is %v, nearer by %v", times, v, last)
			}
			last = v
		}
	})
}

// TestOrderBound checks that a greedy packing of the rectangle by points that are δ apart under the
// feature map does not exceed the bound, and that the bound is not absurdly loose: a square lattice
// reaches a fifth of it.
func TestOrderBound(t *testing.T) {
	const width, height = 3.0, 2.0
	for _, k := range []float64{0.3, 1} {
		run := constantRun(0.3, k, 0.01)
		bound, delta := OrderBound(run, width, height), SeparationBound(run)
		apart := func(x, y [2]float64) bool {
			kappa := math.Exp(-((x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1])) / (2 * 0.6 * 0.6))
			return math.Sqrt(2-2*kappa) > delta
		}
		src := rand.New(rand.NewPCG(1, 2))
		var packed [][2]float64
	candidates:
		for range 20_000 {
			x := [2]float64{width * src.Float64(), height * src.Float64()}
			for _, y := range packed {
				if !apart(x, y) {
					continue candidates
				}
			}
			packed = append(packed, x)
		}
		if n := float64(len(packed)); n > bound || n < bound/5 {
			t.Errorf("K = %v: packed %d points, bound %v", k, len(packed), bound)
		}
	}
	if b := OrderBound(constantRun(5, 1, 0.01), 9, 9); b != 1 {
		t.Errorf("δ > √2, further than any two points are apart: bound %v", b)
	}
}

// TestVariance checks the bound of E‖∇̃‖² for every ∇̃ within ε/η of ∇̂, by the triangle
// inequality, and that the proven bound is above any measurable one.
func TestVariance(t *testing.T) {
	run := constantRun(0.1, 0.3, 0.01)
	r := &record.Record{Header: record.Header{Run: run}, Points: []record.Point{{Samples: 10, Measured: map[string]float64{Gradient: 2}}}}
	if got, want := Variance(r), math.Pow(math.Sqrt(2)+0.3*math.Sqrt(0.1), 2); !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("σ² = %v, want %v", got, want)
	}
	r.Points[0].Measured[Gradient] = 0 // now f_0 = 0, where the mean over classes of ‖1/5 − e_y‖² is 0.8
	if got, want := Variance(r), math.Pow(math.Sqrt(0.8)+0.3*math.Sqrt(0.1), 2); !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("σ² at f = 0 is %v, want %v", got, want)
	}
	if got := ProvenVariance(run); !(got >= math.Pow(2*math.Sqrt2+0.3*math.Sqrt(0.1), 2)-1e-12) {
		t.Errorf("proven σ² = %v", got)
	}
}
