package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Test is a two-sided test of a mean of paired differences.
type Test struct {
	Estimate         // of the mean, with the 95 % interval that belongs to a two-sided test
	P        float64 // of no difference beyond the slack
	N        int     // pairs
}

// PairedT tests whether differences, one a pair, have a mean beyond slack, in
// either direction; with a slack of 0, whether they have a mean at all. Fewer than
// Fewest give p 1 and no interval. Differences that are all equal say nothing of
// how they vary; their p is that of the sign test, 2^(1−n), or 1 if they are within
// the slack. It panics if there are none.
func PairedT(differences []float64, slack float64) Test {
	n := len(differences)
	if n == 0 {
		panic("stats: mean of no differences")
	}
	mean := stat.Mean(differences, nil)
	e := Test{Estimate: Single(mean), P: 1, N: n}
	if n < Fewest {
		return e
	}
	e.Basis = Paired
	if slices.Min(differences) == slices.Max(differences) {
		if math.Abs(mean) > slack {
			e.P = math.Pow(2, float64(1-n))
		}
		return e
	}
	se := stat.StdDev(differences, nil) / math.Sqrt(float64(n))
	t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}
	half := t.Quantile(1-Level/2) * se
	e.Low, e.High = mean-half, mean+half
	e.P = min(1, 2*t.Survival((math.Abs(mean)-slack)/se))
	return e
}

// Holm returns p-values corrected for their number (Holm 1979): calling
// different what has a corrected p of at most α errs anywhere in the family with
// probability at most α, however the comparisons depend on each other.
func Holm(p []float64) []float64 {
	out := make([]float64, len(p))
	most := 0.0
	for rank, i := range ascending(p) {
		most = max(most, min(1, float64(len(p)-rank)*p[i]))
		out[i] = most
	}
	return out
}
