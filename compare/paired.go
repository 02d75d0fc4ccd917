package compare

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Level is the probability of calling two equal heuristics different: of one
// comparison, and after Holm's correction of any of a family.
const Level = 0.05

// Fewest is the number of replicates that a comparison needs.
const Fewest = 3

// An Estimate is the mean of paired differences, one a replicate.
type Estimate struct {
	Mean      float64
	Low, High float64 // 95 % interval, of this comparison alone; infinite if there are too few replicates
	P         float64 // two-sided, of no difference beyond the slack, of this comparison alone
	N         int     // replicates
}

// PairedT estimates the mean of differences by Student's t, whose interval is
// exact for a few normal differences. P is that of a mean of at most slack, in
// either direction: of no difference if slack is 0. Differences that are all
// equal say nothing of how they vary; their p is that of the sign test,
// 2^(1−n), or 1 if they are within the slack. It panics if there are none.
func PairedT(differences []float64, slack float64) Estimate {
	n := len(differences)
	if n == 0 {
		panic("compare: mean of no differences")
	}
	mean := stat.Mean(differences, nil)
	e := Estimate{Mean: mean, Low: math.Inf(-1), High: math.Inf(1), P: 1, N: n}
	if n < Fewest {
		return e
	}
	if slices.Min(differences) == slices.Max(differences) {
		e.Low, e.High = mean, mean
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
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out := make([]float64, len(p))
	most := 0.0
	for rank, i := range order {
		most = max(most, min(1, float64(len(p)-rank)*p[i]))
		out[i] = most
	}
	return out
}
