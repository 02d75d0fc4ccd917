package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"polkrepro/internal/testutil"
)

// TestMean compares the interval with a table of Student's distribution: t at 0.95 is 2.015 for 5
// degrees of freedom.
func TestMean(t *testing.T) {
	e := Mean([]float64{1, 2, 3, 4, 5, 6})
	half := 2.015048 * math.Sqrt(3.5/6)
	if e.Basis != Student || !(math.Abs(e.Value-3.5) <= 1e-12) || !(math.Abs(e.Low-(3.5-half)) <= 1e-6) || !(math.Abs(e.High-(3.5+half)) <= 1e-6) {
		t.Errorf("%+v, want 3.5 ± %v", e, half)
	}
	for _, values := range [][]float64{{7}, {6, 8}, {7, 7}} {
		if e := Mean(values); e != Single(7) {
			t.Errorf("%v: %+v", values, e)
		}
	}
	if e := Mean([]float64{1, 2, math.Inf(1)}); e.Basis != Point || !math.IsInf(e.Value, 1) {
		t.Errorf("a run that diverged: %+v", e)
	}
	if e := Mean([]float64{16, 16, 16}); e.Low != 16 || e.High != 16 {
		t.Errorf("no spread: %+v", e)
	}
}

// sleep is Student's own example (Biometrika, 1908): hours of sleep gained by ten
// patients with either of two drugs.
var sleep = [2][]float64{
	{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2},
	{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4},
}

// TestDifferences compares the intervals with R's output for the example: paired, t = −4.0621 with
// 9 degrees of freedom; unpaired by Welch, t = −1.8608 with 17.776.
func TestDifferences(t *testing.T) {
	a, b := sleep[0], sleep[1]
	const d = -1.58
	for _, c := range []struct {
		got       Estimate
		statistic float64
		quantile  float64 // of Student's t at 0.95, from a table
		want      Basis
	}{
		{PairedDifference(a, b), -4.0621, 1.8331, Paired},
		{Difference(a, b), -1.8608, 1.7353, Welch},
	} {
		half := c.quantile * d / c.statistic
		near(t, string(c.want), c.got.Value, d, 1e-12)
		near(t, string(c.want)+", low", c.got.Low, d-half, 2e-4)
		near(t, string(c.want)+", high", c.got.High, d+half, 2e-4)
		if c.got.Basis != c.want {
			t.Errorf("basis %s, want %s", c.got.Basis, c.want)
		}
	}
	// Three pairs, the fewest: 2 ± t/√3 with t of 2 degrees of freedom.
	near(t, "three pairs", PairedDifference([]float64{2, 4, 6}, []float64{1, 2, 3}).Low, 2-2.919986/math.Sqrt(3), 1e-6)
}

// TestFieller checks the interval's ends by their definition: Student's t of a − r·b is the
// quantile at the ends and less between them. If no two ratios r have this property, the interval
// has no bound.
func TestFieller(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 12).Draw(t, "n")
		values := rapid.SliceOfN(rapid.Float64Range(0.5, 8), n, n)
		a, b := values.Draw(t, "a"), values.Draw(t, "b")
		e := PairedRatio(a, b)
		statistic := func(r float64) float64 {
			d := make([]float64, n)
			for i := range d {
				d[i] = a[i] - r*b[i]
			}
			m, sd := stat.MeanStdDev(d, nil)
			return math.Abs(m) / (sd / math.Sqrt(float64(n)))
		}
		m, sd := stat.MeanStdDev(b, nil)
		q := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(0.95)
		if bounded := m/(sd/math.Sqrt(float64(n))) > q; bounded == math.IsInf(e.High, 1) || bounded == math.IsInf(e.Low, -1) {
			t.Fatalf("%+v, denominator bounded away from 0: %v", e, bounded)
		}
		if math.IsInf(e.High, 1) || e.High-e.Low < 1e-6 || e.High-e.Low > 1e3 {
			return
		}
		for _, end := range []float64{e.Low, e.High} {
			if got := statistic(end); !(math.Abs(got-q) <= 1e-4*q) {
				t.Fatalf("%+v: t is %v at %v, want %v", e, got, end, q)
			}
		}
		if got := statistic((e.Low + e.High) / 2); got >= q || !(e.Low < e.Value && e.Value < e.High) {
			t.Fatalf("%+v: t is %v between the ends, want less than %v", e, got, q)
		}
	})
}

// TestRatio checks that the interval for a known denominator is the scaled one of the numerator,
// and that exchanging numerator and denominator inverts the ends.
func TestRatio(t *testing.T) {
	a, b := sleep[1], []float64{2, 3, 4, 2, 3}
	m := Mean(a)
	e := Ratio(a, []float64{4})
	near(t, "known denominator, low", e.Low, m.Low/4, 1e-12)
	near(t, "known denominator, high", e.High, m.High/4, 1e-12)
	three := a[:3]
	near(t, "three runs, low", Ratio(three, []float64{4}).Low, Mean(three).Low/4, 1e-12)
	x, y := Ratio(a, b), Ratio(b, a)
	near(t, "exchanged, value", y.Value, 1/x.Value, 1e-12)
	near(t, "exchanged, low", y.Low, 1/x.High, 1e-9)
	near(t, "exchanged, high", y.High, 1/x.Low, 1e-9)
	// Another unit of b changes nothing else, not even the degrees of freedom.
	z := Ratio(a, []float64{20, 30, 40, 20, 30})
	near(t, "scaled, low", z.Low, x.Low/10, 1e-12)
	near(t, "scaled, high", z.High, x.High/10, 1e-12)
	if x.Basis != Fieller || !(x.Low < x.Value && x.Value < x.High) {
		t.Errorf("%+v", x)
	}
	if e := Ratio(a, sleep[0]); !math.IsInf(e.Low, -1) || !math.IsInf(e.High, 1) || e.Basis != Fieller {
		t.Errorf("a denominator that may be 0: %+v", e) // 0.75 ± 1.04
	}
}

// TestFewRuns checks which samples have no interval, and which side counts as known.
func TestFewRuns(t *testing.T) {
	five, proportional := []float64{2, 4, 6, 8, 10}, []float64{1, 2, 3, 4, 5}
	if e := PairedRatio(five, proportional); e.Value != 2 || !(math.Abs(e.Low-2) <= 1e-7) || !(math.Abs(e.High-2) <= 1e-7) {
		t.Errorf("equal ratios: %+v", e)
	}
	if e := Difference([]float64{3, 3, 3}, []float64{1, 1}); e != (Estimate{2, 2, 2, Welch}) {
		t.Errorf("no spread: %+v", e)
	}
	m := Mean(five)
	one := Difference(five, []float64{1})
	near(t, "one run, low", one.Low, m.Low-1, 1e-12)
	near(t, "one run, high", one.High, m.High-1, 1e-12)
	near(t, "one run first, low", Difference([]float64{1}, five).Low, 1-m.High, 1e-12)
	if two := Difference(five, []float64{0, 2}); !(two.Low < one.Low && one.High < two.High) {
		t.Errorf("two runs %+v, one %+v", two, one)
	}
	inf := math.Inf(1)
	for _, c := range []struct{ got, want Estimate }{
		{Difference([]float64{3}, []float64{1, 2}), Single(1.5)},
		{Ratio([]float64{3}, []float64{1, 2}), Single(2)},
		{PairedDifference([]float64{3, 5}, []float64{1, 2}), Single(2.5)},
		{PairedRatio([]float64{3, 6}, []float64{1, 2}), Single(3)},
		{Difference(five, []float64{1, 2, inf}), Single(-inf)},
		{PairedDifference([]float64{1, 2, inf}, []float64{1, 2, 3}), Single(inf)},
		{Ratio(five, []float64{0, 0, 0}), Single(inf)},
		{PairedRatio([]float64{1, 2, inf}, []float64{1, 2, 3}), Single(inf)},
		{PairedRatio([]float64{1, 2, 3}, []float64{0, 0, 0}), Single(inf)},
	} {
		if c.got != c.want {
			t.Errorf("%+v, want %+v", c.got, c.want)
		}
	}
	for name, f := range map[string]func(){
		"mean": func() { Mean(nil) }, "difference": func() { Difference(five, nil) }, "ratio": func() { Ratio(nil, five) },
		"pairs": func() { PairedDifference(five, five[:2]) }, "ratio of pairs": func() { PairedRatio(nil, nil) }, "test": func() { PairedT(nil, 0) },
	} {
		t.Run(name+" of no values, or of unequal samples", func(t *testing.T) { testutil.MustPanic(t, f) })
	}
}

// normal draws a standard normal value by inversion, which gives the same on every platform of the
// tests.
func normal(rng *rand.Rand) float64 { return distuv.UnitNormal.Quantile(uniform(rng)) }

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		e         Estimate
		low, high float64
		want      Verdict
	}{
		{Estimate{2, 1, 3, Student}, 1, 3, Reproduced},
		{Estimate{2, 1, 3, Student}, 1.1, 3, Inconclusive},
		{Estimate{2, 1, 3, Student}, 3.1, 4, Deviates},
		{Estimate{2, 1, 3, Student}, 3, 4, Inconclusive},
		{Estimate{2, 1, 3, Student}, 0, 1, Inconclusive},
		{Estimate{2, 1, 3, Student}, math.Inf(-1), 0.5, Deviates},
		{Estimate{2, 1, 3, Student}, math.Inf(-1), math.Inf(1), Reproduced},
		{Estimate{2, math.Inf(-1), math.Inf(1), Fieller}, 1, math.Inf(1), Inconclusive},
		{Estimate{2, math.Inf(-1), math.Inf(1), Fieller}, 3, 4, Inconclusive},
		{Single(math.NaN()), 0, 1, Inconclusive},
		{Single(math.Inf(1)), 0, 1, Deviates},
		{Single(math.Inf(1)), 3, math.Inf(1), Inconclusive},
		{Single(math.Inf(-1)), math.Inf(-1), 3, Inconclusive},
	} {
		if got := Judge(c.e, c.low, c.high); got != c.want {
			t.Errorf("%+v in %v to %v: %v, want %v", c.e, c.low, c.high, got, c.want)
		}
	}
}
