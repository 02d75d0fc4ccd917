package stats

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"polkrepro/internal/words"
)

// Level is the significance level of every test: of each of the two one-sided tests behind a
// verdict, of a two-sided test, and of a family of two-sided tests after Holm's correction.
const Level = 0.05

// Fewest is the smallest number of runs for an interval. Student's t needs only two, but two runs
// say too little about the variance.
const Fewest = 3

// A Basis says how an interval was made.
type Basis string

// The bases.
const (
	Student Basis = "Student's t"
	Paired  Basis = "paired t"
	Welch   Basis = "Welch's t"
	Fieller Basis = "Fieller"
	OneRun  Basis = "prediction" // of one run, not of a mean
	Point   Basis = "point"      // no interval: there are too few runs, or one diverged

	TestRows Basis = "test rows" // size of one test set; alone, or appended to another basis with "and"
)

// An Estimate is a statistic with its 90 % interval, from Low to High. Both ends equal Value if the
// basis is Point. They are infinite if the runs do not bound the statistic, as for a ratio whose
// denominator may be 0.
type Estimate struct {
	Value     float64
	Low, High float64
	Basis     Basis
}

// Single returns the estimate v without an interval.
func Single(v float64) Estimate { return Estimate{v, v, v, Point} }

// Mean estimates the mean of the values, one per run, by Student's t. It panics if there are no
// values.
func Mean(values []float64) Estimate {
	if len(values) == 0 {
		panic("stats: mean of no values")
	}
	m, sd := stat.MeanStdDev(values, nil)
	if len(values) < Fewest || !words.Finite(m) {
		return Single(stat.Mean(values, nil))
	}
	n := float64(len(values))
	return about(m, sd, n, n-1, Student)
}

// Prediction estimates the value of one new run from the values of n runs, one per run: their mean,
// and Student's 90 % prediction interval, mean ± t s √(1 + 1/n) (W. Q. Meeker, G. J. Hahn, L. A.
// Escobar, "Statistical Intervals", 2nd edition 2017, chapter 4). If the value of a run is an
// average over its evaluations, pass these averages: the variation among single evaluations is not
// used. Prediction panics if there are no values.
func Prediction(values []float64) Estimate {
	e := Mean(values)
	if e.Basis == Point {
		return e
	}
	n := float64(len(values))
	return about(e.Value, stat.StdDev(values, nil)*math.Sqrt(1+1/n), 1, n-1, OneRun)
}

// Binomial returns the variance, in squared points, of an error in per cent that was measured on
// the given number of independent test rows.
func Binomial(percent float64, rows int) float64 {
	p := percent / 100
	return 100 * 100 * p * (1 - p) / float64(rows)
}

// Sampled widens an estimate by the variance of a source that all its runs share, such as their
// test rows. Each half of the new interval is the root of the sum of two squares: the old half, and
// the half of a normal interval with that variance (G. Y. Zou, A. Donner, "Construction of
// confidence limits about effect measures", 2008). Sampled returns the estimate unchanged if the
// variance is 0 or the value is not finite.
func (e Estimate) Sampled(variance float64) Estimate {
	if variance == 0 || !words.Finite(e.Value) {
		return e
	}
	basis := TestRows
	if e.Basis != Point {
		basis = e.Basis + " and " + TestRows
	}
	half := distuv.UnitNormal.Quantile(1-Level) * math.Sqrt(variance)
	return Estimate{e.Value, e.Value - math.Hypot(e.Value-e.Low, half), e.Value + math.Hypot(e.High-e.Value, half), basis}
}

// PairedDifference estimates mean(a) − mean(b) by Student's t of the differences
// a[i] − b[i]. It panics if a and b are empty or differ in length.
func PairedDifference(a, b []float64) Estimate {
	checkPairs(a, b)
	d := stat.Mean(a, nil) - stat.Mean(b, nil)
	if len(a) < Fewest || !words.Finite(d) {
		return Single(d)
	}
	differences := floats.SubTo(make([]float64, len(a)), a, b)
	n := float64(len(a))
	return about(d, stat.StdDev(differences, nil), n, n-1, Paired)
}

// Difference estimates mean(a) − mean(b) of independent runs by Welch's t, which allows the two
// sides different variances. It takes the mean of a side with one run as exact, which is right for
// a method without randomness, and makes the interval too narrow otherwise. It panics if a or b is
// empty.
func Difference(a, b []float64) Estimate {
	x, y := newSide(a), newSide(b)
	d := x.mean - y.mean
	if max(len(a), len(b)) < Fewest || !words.Finite(d) {
		return Single(d)
	}
	return about(d, math.Sqrt(x.variance+y.variance), 1, satterthwaite(x, y, 1), Welch)
}

// PairedRatio estimates mean(a)/mean(b) by Fieller's theorem: the interval contains the ratios r
// for which Student's t does not reject that a[i] − r·b[i] has mean 0. It panics if a and b are
// empty or differ in length.
func PairedRatio(a, b []float64) Estimate {
	checkPairs(a, b)
	x, y := newSide(a), newSide(b)
	if len(a) < Fewest || !words.Finite(x.mean/y.mean) {
		return Single(x.mean / y.mean)
	}
	n := float64(len(a))
	return fieller(x, y, stat.Covariance(a, b, nil)/n, n-1)
}

// Ratio estimates mean(a)/mean(b) of independent runs by Fieller's theorem, with
// the degrees of freedom of Welch's t at the estimated ratio. A side with one run
// counts as in [Difference]. It panics if a or b is empty.
func Ratio(a, b []float64) Estimate {
	x, y := newSide(a), newSide(b)
	r := x.mean / y.mean
	if max(len(a), len(b)) < Fewest || !words.Finite(r) {
		return Single(r)
	}
	return fieller(x, y, 0, satterthwaite(x, y, r))
}

func checkPairs(a, b []float64) {
	if len(a) == 0 || len(a) != len(b) {
		panic("stats: empty or unequal samples")
	}
}

// A side is the mean of n values and the variance s²/n of that mean.
type side struct {
	mean, variance, n float64
}

func newSide(values []float64) side {
	n := float64(len(values))
	switch len(values) {
	case 0:
		panic("stats: empty sample")
	case 1:
		return side{mean: values[0], n: n}
	}
	m, v := stat.MeanVariance(values, nil)
	return side{m, v / n, n}
}

// satterthwaite returns the degrees of freedom of x.mean − r·y.mean.
func satterthwaite(x, y side, r float64) float64 {
	u, v := x.variance, r*r*y.variance
	rest := 0.0
	if u > 0 {
		rest += u * u / (x.n - 1)
	}
	if v > 0 {
		rest += v * v / (y.n - 1)
	}
	if rest == 0 { // neither varies: any number of degrees will do
		return 1
	}
	return (u + v) * (u + v) / rest
}

// quantile returns the quantile of Student's t at 1 − Level, with df degrees of freedom.
func quantile(df float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(1 - Level)
}

// about returns the estimate v with an interval of t standard errors sd/√n to either side.
func about(v, sd, n, df float64, basis Basis) Estimate {
	half := quantile(df) * sd / math.Sqrt(n)
	return Estimate{v, v - half, v + half, basis}
}

// fieller returns the estimate of x.mean/y.mean, where w is the covariance of the two means. Let r
// be the ratio, u and v the variances of the means, and g = t²v/y². The ends of the interval are
// the roots ρ of (x − ρy)² = t²(u − 2ρw + ρ²v):
//
//	(r − t²w/y² ± t/|y| √(u − 2rw + r²v − t²(uv − w²)/y²)) / (1 − g)
//
// If g ≥ 1, y may be 0 and the ratio is unbounded.
func fieller(x, y side, w, df float64) Estimate {
	r, t := x.mean/y.mean, quantile(df)
	u, v := x.variance, y.variance
	q := t * t / (y.mean * y.mean)
	if q*v >= 1 {
		return Estimate{r, math.Inf(-1), math.Inf(1), Fieller}
	}
	centre := (r - q*w) / (1 - q*v)
	root := max(0, u-2*r*w+r*r*v-q*(u*v-w*w)) // negative only by rounding
	half := math.Sqrt(q*root) / (1 - q*v)
	return Estimate{r, centre - half, centre + half, Fieller}
}
