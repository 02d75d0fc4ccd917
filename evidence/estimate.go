package evidence

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	level     = 0.05 // of each of the two one-sided tests
	fewest    = 3    // runs that an interval needs
	resamples = 10_000
)

// A Basis says what an interval is from.
type Basis string

// The bases.
const (
	Student   Basis = "Student's t"
	Bootstrap Basis = "bootstrap"
	Paired    Basis = "paired bootstrap"
	Point     Basis = "point" // too few runs, or one that diverged: there is no interval
)

// An Estimate is a statistic with its 90 % interval, from Low to High; both are
// Value where there is none.
type Estimate struct {
	Value     float64
	Low, High float64
	Basis     Basis
}

func point(v float64) Estimate { return Estimate{v, v, v, Point} }

// Mean estimates the mean of the values, one a run. It panics if there is none.
func Mean(values []float64) Estimate {
	if len(values) == 0 {
		panic("evidence: mean of no values")
	}
	m, sd := stat.MeanStdDev(values, nil)
	if len(values) < fewest || math.IsInf(m, 0) || math.IsNaN(m) {
		return point(stat.Mean(values, nil))
	}
	n := float64(len(values))
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(1-level) * sd / math.Sqrt(n)
	return Estimate{m, m - half, m + half, Student}
}

// A statistic is one of two means.
type statistic func(a, b float64) float64

func difference(a, b float64) float64 { return a - b }
func ratio(a, b float64) float64      { return a / b }

// compare estimates a statistic of the means of a and b. If paired, a[i] and
// b[i] belong together. It panics if a or b is empty, or if they are paired and
// differ in length.
func compare(a, b []float64, paired bool, f statistic) Estimate {
	if len(a) == 0 || len(b) == 0 || paired && len(a) != len(b) {
		panic("evidence: comparison of no values, or of pairs that are none")
	}
	e := point(f(stat.Mean(a, nil), stat.Mean(b, nil)))
	if max(len(a), len(b)) < fewest || math.IsNaN(e.Value) || math.IsInf(e.Value, 0) {
		return e
	}
	e.Basis = Bootstrap
	if paired {
		e.Basis = Paired
	}
	src := rand.NewPCG(1, 2016)
	values := make([]float64, resamples)
	for i := range values {
		if paired {
			values[i] = f(resamplePairs(src, a, b))
		} else {
			values[i] = f(resample(src, a), resample(src, b))
		}
	}
	slices.Sort(values)
	e.Low = stat.Quantile(level, stat.Empirical, values, nil)
	e.High = stat.Quantile(1-level, stat.Empirical, values, nil)
	return e
}

// resample is the mean of as many values drawn from a with replacement, or of a
// itself if those are too few to say how they vary.
func resample(src rand.Source, a []float64) float64 {
	if len(a) < fewest {
		return stat.Mean(a, nil)
	}
	sum := 0.0
	for range a {
		sum += a[draw(src, len(a))]
	}
	return sum / float64(len(a))
}

// resamplePairs is the same of pairs.
func resamplePairs(src rand.Source, a, b []float64) (meanA, meanB float64) {
	for range a {
		i := draw(src, len(a))
		meanA += a[i]
		meanB += b[i]
	}
	return meanA / float64(len(a)), meanB / float64(len(b))
}

// draw returns a number from 0 to n − 1. It is not rand.IntN, whose stream may
// change between versions of Go.
func draw(src rand.Source, n int) int {
	i, _ := bits.Mul64(src.Uint64(), uint64(n))
	return int(i)
}
