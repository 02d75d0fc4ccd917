package data

import (
	"math"
	"testing"

	"polkrepro/internal/testutil"
)

// TestBayesErrorTwoGaussians checks that two classes of one Gaussian each, with means a
// distance d apart, have the Bayes error Φ(−d/2σ).
func TestBayesErrorTwoGaussians(t *testing.T) {
	for _, variance := range []float64{0.04, 0.2, 3} {
		for _, d := range []float64{0, 0.3, 1, 2, 4} {
			for _, angle := range []float64{0, 0.4, math.Pi / 4, 2} {
				means := [][][2]float64{{{0.1, -0.2}}, {{0.1 + d*math.Cos(angle), -0.2 + d*math.Sin(angle)}}}
				want := math.Erfc(d/(2*math.Sqrt(2*variance))) / 2
				if got := bayesError(means, variance, bayesStep); !(math.Abs(got-want) <= 1e-4) {
					t.Errorf("distance %v at angle %v, variance %v: %v, want %v", d, angle, variance, got, want)
				}
			}
		}
	}
}

// TestBayesErrorMonteCarlo compares bayesError with the mean of 1 − max_y P(y|x) over
// samples of the mixture, to within four standard errors.
func TestBayesErrorMonteCarlo(t *testing.T) {
	tests := []struct {
		variant string
		draw    uint64
	}{{Calibrated, 36}, {Calibrated, 1236}, {AsPrinted, 1236}, {"30-modes", 36}}
	for _, tt := range tests {
		const n = 60_000
		means, variance, err := MultidistMixture(tt.variant, tt.draw)
		testutil.NoError(t, err)
		stream := sampler{newSource(tt.draw, 1<<40), means, math.Sqrt(variance)}
		x := make([]float32, 2)
		var sum, sum2 float64
		for range n {
			stream.next(x)
			var all, best float64
			for _, class := range means {
				var q float64
				for _, m := range class {
					dx, dy := float64(x[0])-m[0], float64(x[1])-m[1]
					q += math.Exp(-(dx*dx + dy*dy) / (2 * variance))
				}
				all += q
				best = max(best, q)
			}
			e := 1 - best/all
			sum += e
			sum2 += e * e
		}
		mean := sum / n
		stderr := math.Sqrt((sum2/n - mean*mean) / n)
		if got := bayesError(means, variance, bayesStep); !(math.Abs(got-mean) <= 4*stderr+1e-4) {
			t.Errorf("%s, draw %d: %v, Monte Carlo %v ± %v", tt.variant, tt.draw, got, mean, stderr)
		}
	}
}
