package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestPrediction compares the interval with a table of Student's distribution: t at 0.95 is 2.015
// for 5 degrees of freedom.
func TestPrediction(t *testing.T) {
	e := Prediction([]float64{1, 2, 3, 4, 5, 6})
	half := 2.015048 * math.Sqrt(3.5*(1+1.0/6))
	if e.Basis != OneRun || e.Value != 3.5 {
		t.Errorf("%+v", e)
	}
	near(t, "low", e.Low, 3.5-half, 1e-5)
	near(t, "high", e.High, 3.5+half, 1e-5)
	for _, runs := range [][]float64{{7}, {6, 8}, {7, 7, math.Inf(1)}} {
		if e := Prediction(runs); e.Basis != Point {
			t.Errorf("%v: %+v", runs, e)
		}
	}
	if e := Prediction([]float64{16, 16, 16}); e.Low != 16 || e.High != 16 {
		t.Errorf("no spread: %+v", e)
	}
}

// TestPredictionCoverage checks that the interval contains a new run's average over its evaluations
// as often as it claims, however much the evaluations vary within a run: 90 % of normal values, and
// at least 85 % of all others.
func TestPredictionCoverage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: arithmetic alone, and the race detector makes it half a minute")
	}
	const samples, evaluations = 600, 10
	for i, s := range shapes(t) {
		for k, within := range []float64{0, 1, 3} { // standard deviation of evaluations, relative to that of the runs
			for _, n := range sizes {
				rng := rand.New(rand.NewPCG(uint64(10*i+k), uint64(n)))
				average := func() float64 {
					sum := evaluations * s.draw(rng)
					for range evaluations {
						sum += within * s.draw(rng)
					}
					return sum / evaluations
				}
				held := 0
				for range samples {
					var runs []float64
					for range n {
						runs = append(runs, average())
					}
					next := average()
					if e := Prediction(runs); e.Low <= next && next <= e.High {
						held++
					}
				}
				name := fmt.Sprintf("%d runs, %s, evaluations %v", n, s.name, within)
				got := float64(held) / samples
				t.Logf("%s: %.3f", name, got)
				low, high := least, 1.0
				if i == 0 {
					low, high = 1-2*Level, 1-2*Level
				}
				if !(got >= low-errors3(low, samples)) || got > high+errors3(high, samples) {
					t.Errorf("%s: holds %.3f of new runs, want %.2f to %.2f, within three standard errors", name, got, low, high)
				}
			}
		}
	}
}

// TestSampled simulates errors of several runs on the same rows. A new run's error on new rows lies
// within Prediction, widened by twice the binomial variance, in 90 % of cases. The true difference
// of two methods that often err on the same rows lies within the widened Difference in 90 % or
// more. Without widening, either interval contains far less.
func TestSampled(t *testing.T) {
	t.Parallel()
	if e := (Estimate{5, 2, 8, Student}).Sampled(4 * 4 / (1.644854 * 1.644854)); e.Basis != "Student's t and test rows" {
		t.Errorf("%+v", e)
	} else {
		near(t, "low", e.Low, 0, 1e-5)
		near(t, "high", e.High, 10, 1e-5)
	}
	if e := Single(math.Inf(1)).Sampled(1); e != Single(math.Inf(1)) {
		t.Errorf("not finite: %+v", e)
	}
	const rows, runs, samples, a, b, both = 1000, 5, 1000, 4.0, 3.0, 2.5 // errors in per cent: of a, of b, of both at once
	rng := rand.New(rand.NewPCG(1, 2))
	measure := func() (x, y []float64) {
		onA, onB := 0.0, 0.0
		for range rows {
			switch u := 100 * uniform(rng); {
			case u < both:
				onA++
				onB++
			case u < a:
				onA++
			case u < a+b-both:
				onB++
			}
		}
		for range runs {
			x, y = append(x, 100*onA/rows+0.1*normal(rng)), append(y, 100*onB/rows+0.1*normal(rng))
		}
		return x, y
	}
	var newRun, without, difference, apart float64
	for range samples {
		x, y := measure()
		next, _ := measure()
		holds := func(e Estimate, v float64) float64 {
			if e.Low <= v && v <= e.High {
				return 1. / samples
			}
			return 0
		}
		of, to := Binomial(Mean(x).Value, rows), Binomial(Mean(y).Value, rows)
		newRun += holds(Prediction(x).Sampled(2*of), next[0])
		without += holds(Prediction(x), next[0])
		difference += holds(Difference(x, y).Sampled(of+to), a-b)
		apart += holds(Difference(x, y), a-b)
	}
	if slack := errors3(0.9, samples); !(math.Abs(newRun-0.9) <= slack) || !(difference >= 0.9-slack) || !(max(without, apart) <= 0.5) {
		t.Errorf("held: new runs %.3f, not widened %.3f; differences %.3f, not widened %.3f", newRun, without, difference, apart)
	}
}
