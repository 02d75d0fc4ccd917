package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Test is a two-sided test of a mean of paired differences.
type Test struct {
	Estimate         // the mean, with the 95 % interval of a two-sided test
	P        float64 // p-value of no difference beyond the slack
	N        int     // number of pairs
}

// PairedT tests whether the mean of the differences, one per pair, exceeds slack in either
// direction; with a slack of 0, whether it differs from 0. With fewer than Fewest differences, P is
// 1 and there is no interval. If all differences are equal, their variance is unknown and P is that
// of the sign test, 2^(1−n), or 1 if the mean is within the slack. PairedT panics if there are no
// differences.
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

// Holm returns p-values corrected for multiple comparisons (Holm 1979). If every hypothesis with a
// corrected p of at most α is rejected, the probability of any false rejection in the family is at
// most α, however the comparisons depend on each other.
func Holm(p []float64) []float64 {
	out, order, most := make([]float64, len(p)), make([]int, len(p)), 0.0
	floats.ArgsortStable(slices.Clone(p), order)
	for rank, i := range order {
		most = max(most, min(1, float64(len(p)-rank)*p[i]))
		out[i] = most
	}
	return out
}
