package evidence

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// TestMean compares with figures from a table of Student's distribution: t at
// 0.95 is 2.015 for 5 degrees of freedom.
func TestMean(t *testing.T) {
	e := Mean([]float64{1, 2, 3, 4, 5, 6})
	half := 2.015048 * math.Sqrt(3.5/6)
	if e.Basis != Student || math.Abs(e.Value-3.5) > 1e-12 || math.Abs(e.Low-(3.5-half)) > 1e-6 || math.Abs(e.High-(3.5+half)) > 1e-6 {
		t.Errorf("%+v, want 3.5 ± %v", e, half)
	}
	for _, values := range [][]float64{{7}, {6, 8}, {7, 7}} {
		if e := Mean(values); e != point(7) {
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

func TestCompare(t *testing.T) {
	a, b := []float64{2, 4, 6, 8, 10}, []float64{1, 2, 3, 4, 5}
	// Every pair has the ratio 2, so that pairs have no spread, sides apart have.
	if e := compare(a, b, true, ratio); e != (Estimate{2, 2, 2, Paired}) {
		t.Errorf("paired: %+v", e)
	}
	if e := compare(a, b, false, ratio); e.Value != 2 || e.Low > 1.5 || e.High < 2.5 || e.Basis != Bootstrap {
		t.Errorf("apart: %+v", e)
	}
	if e := compare([]float64{3}, []float64{1, 2}, false, difference); e != point(1.5) {
		t.Errorf("few: %+v", e)
	}
	one := compare(a, []float64{1}, false, difference)
	if one.Value != 5 || !(one.Low < 4 && 6 < one.High) {
		t.Errorf("one run on one side: %+v", one)
	}
	if again := compare(a, []float64{1}, false, difference); again != one {
		t.Errorf("not the same again: %+v", again)
	}
	if e := compare(a, []float64{1, 2, math.Inf(1)}, false, difference); e != point(math.Inf(-1)) {
		t.Errorf("the other diverged: %+v", e)
	}
}

// TestBootstrap compares the interval with what normal theory has for many
// values.
func TestBootstrap(t *testing.T) {
	const n = 400
	values := normals(rand.New(rand.NewPCG(3, 4)), n)
	e := compare(values, []float64{0}, false, difference)
	m := Mean(values)
	if math.Abs(e.Low-m.Low) > 0.01 || math.Abs(e.High-m.High) > 0.01 {
		t.Errorf("bootstrap %v to %v, Student %v to %v", e.Low, e.High, m.Low, m.High)
	}
}

// TestBootstrapCoverage documents how often the interval holds the truth of few
// normal values: not in 90 % of cases.
func TestBootstrapCoverage(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		n    int
		want float64
	}{{5, 0.79}, {20, 0.87}} {
		const trials = 100
		held := 0
		for range trials {
			if e := compare(normals(rng, c.n), []float64{0}, false, difference); e.Low <= 0 && 0 <= e.High {
				held++
			}
		}
		if rate := float64(held) / trials; math.Abs(rate-c.want) > 0.1 {
			t.Errorf("%d values: the interval holds the truth in %.3f of cases, want about %v", c.n, rate, c.want)
		}
	}
}

// normals draws standard normal values by inversion, the same on every platform
// that this is run on.
func normals(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = distuv.UnitNormal.Quantile((float64(rng.Uint64()>>11) + 0.5) / (1 << 53))
	}
	return out
}

// TestSize simulates runs whose true mean lies just at the margin's edge: the
// test of equivalence may take them for equivalent in at most 5 % of cases, and
// with a mean at the centre and a wide margin must find equivalence.
func TestSize(t *testing.T) {
	t.Parallel()
	const trials, margin = 4_000, 1.0
	rng := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		n  int
		sd float64
	}{{3, 0.1}, {5, 0.1}, {5, 1}, {20, 0.5}} {
		var edge, centre int
		for range trials {
			values := normals(rng, c.n)
			for i := range values {
				values[i] = margin + c.sd*values[i]
			}
			if Judge(Mean(values), -margin, margin) == Reproduced {
				edge++
			}
			if Judge(Mean(values), 0, 2*margin) == Reproduced {
				centre++
			}
		}
		// 5 % plus three standard errors of the simulation.
		if rate := float64(edge) / trials; rate > level+3*math.Sqrt(level*(1-level)/trials) {
			t.Errorf("%d runs, sd %v: equivalent at the edge in %.4f of cases", c.n, c.sd, rate)
		}
		if rate := float64(centre) / trials; c.sd <= 0.1 && rate < 0.99 {
			t.Errorf("%d runs, sd %v: equivalent at the centre only in %.4f of cases", c.n, c.sd, rate)
		}
	}
}

func drawValues(t *rapid.T, name string) []float64 {
	// Multiples of 1/8, so that reflection is exact.
	eighths := rapid.SliceOfN(rapid.IntRange(-800, 800), 1, 12).Draw(t, name)
	out := make([]float64, len(eighths))
	for i, e := range eighths {
		out[i] = float64(e) / 8
	}
	return out
}

// TestVerdictMonotone widens the margin: the verdict may only get better.
func TestVerdictMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := Mean(drawValues(t, "values"))
		if rapid.Bool().Draw(t, "compare") {
			e = compare(drawValues(t, "a"), drawValues(t, "b"), false, difference)
		}
		printed := rapid.Float64Range(-100, 100).Draw(t, "printed")
		narrow := rapid.Float64Range(0, 100).Draw(t, "margin")
		wide := narrow + rapid.Float64Range(0, 100).Draw(t, "more")
		a, b := Judge(e, printed-narrow, printed+narrow), Judge(e, printed-wide, printed+wide)
		if b > a {
			t.Fatalf("%+v: %v within %v of %v, but %v within %v", e, a, narrow, printed, b, wide)
		}
	})
}

// TestVerdictSymmetric reflects values and target.
func TestVerdictSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := drawValues(t, "values")
		low := float64(rapid.IntRange(-800, 800).Draw(t, "low")) / 8
		high := low + float64(rapid.IntRange(0, 800).Draw(t, "width"))/8
		mirrored := slices.Clone(values)
		for i := range mirrored {
			mirrored[i] *= -1
		}
		if a, b := Judge(Mean(values), low, high), Judge(Mean(mirrored), -high, -low); a != b {
			t.Fatalf("%v, but %v of the reflection", a, b)
		}
	})
}

// TestComparisonAntisymmetric exchanges the sides of paired values.
func TestComparisonAntisymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawValues(t, "a")
		b := drawValues(t, "b")
		n := min(len(a), len(b))
		x, y := compare(a[:n], b[:n], true, difference), compare(b[:n], a[:n], true, difference)
		var apart []float64
		for i := range n {
			apart = append(apart, a[i]-b[i])
		}
		// The means of resamples are at most a pair's worth apart.
		step := (slices.Max(apart)-slices.Min(apart))/float64(n) + 1e-9
		if math.Abs(x.Value+y.Value) > 1e-12 || x.Low > x.High || math.Abs(x.Low+y.High) > step || math.Abs(x.High+y.Low) > step {
			t.Fatalf("%+v and %+v", x, y)
		}
	})
}

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
		{Estimate{2, 1, 3, Student}, math.Inf(-1), 0.5, Deviates},
		{Estimate{2, 1, 3, Student}, math.Inf(-1), math.Inf(1), Reproduced},
		{point(math.NaN()), 0, 1, Inconclusive},
		{point(math.Inf(1)), 0, 1, Deviates},
		{point(math.Inf(1)), 3, math.Inf(1), Inconclusive},
	} {
		if got := Judge(c.e, c.low, c.high); got != c.want {
			t.Errorf("%+v in %v to %v: %v, want %v", c.e, c.low, c.high, got, c.want)
		}
	}
}

func TestVerdictText(t *testing.T) {
	for v := Reproduced; v <= Deviates; v++ {
		b, _ := v.MarshalText()
		var back Verdict
		if err := back.UnmarshalText(b); err != nil || back != v {
			t.Errorf("%s: %v, %v", b, back, err)
		}
	}
	if err := new(Verdict).UnmarshalText([]byte("maybe")); err == nil {
		t.Error("maybe is a verdict")
	}
}
