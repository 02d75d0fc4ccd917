package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Demšar (JMLR 7, 2006), Table 5(a): q for α = 0.05 and 2 to 10 classifiers.
func TestNemenyiPublished(t *testing.T) {
	for i, q := range []float64{1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164} {
		k := i + 2
		near(t, "q", Nemenyi(k, 1)/math.Sqrt(float64(k*(k+1))/6), q, 1e-3)
	}
	// Section 3.2.2's example: 4 classifiers, 14 data sets.
	near(t, "CD", Nemenyi(4, 14), 1.25, 0.005)
	f, p := Friedman([]float64{3.143, 2.000, 2.893, 1.964}, 14)
	near(t, "F", f, 3.69, 0.01)
	if !(p > 0.01 && p < 0.05) { // the critical value at 0.05 is 2.85
		t.Errorf("p of the example: %v", p)
	}
}

// Two heuristics' F is a function of the sign statistic; three equal rows leave
// nothing to chance.
func TestRankExtremes(t *testing.T) {
	r := Rank([][]float64{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}})
	if !math.IsInf(r.F, 1) || r.P != 0 || !slices.Equal(r.Mean, []float64{1, 2, 3}) {
		t.Errorf("equal rows: %+v", r)
	}
	r = Rank([][]float64{{5, 5, 5}, {1, 1, 1}})
	if r.F != 0 || r.P != 1 || !slices.Equal(r.Mean, []float64{2, 2, 2}) {
		t.Errorf("ties: %+v", r)
	}
}

// The least value has rank 1: the direction of better.
func TestRanksDirection(t *testing.T) {
	if got := Ranks([]float64{0.3, 0.1, 0.2, 0.1}); !slices.Equal(got, []float64{4, 1.5, 3, 1.5}) {
		t.Errorf("ranks %v", got)
	}
}

func TestRanksSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 5), func(i int) float64 { return float64(i) }), 1, 20).Draw(t, "values")
		n, sum := float64(len(v)), 0.0
		ranks := Ranks(v)
		for i, r := range ranks {
			sum += r
			for j, q := range ranks {
				if (v[i] < v[j]) != (r < q) {
					t.Fatalf("%v ranked %v", v, ranks)
				}
			}
		}
		if math.Abs(sum-n*(n+1)/2) > 1e-9 {
			t.Fatalf("ranks %v sum to %v", ranks, sum)
		}
	})
}

// bruteFront is the definition.
func bruteFront(points []Sample) map[int]bool {
	out := map[int]bool{}
	for i, p := range points {
		beaten := false
		for _, q := range points {
			beaten = beaten || q.Cost <= p.Cost && q.Value <= p.Value && (q.Cost < p.Cost || q.Value < p.Value)
		}
		if !beaten {
			out[i] = true
		}
	}
	return out
}

func TestFrontBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Sample {
			return Sample{float64(rapid.IntRange(1, 6).Draw(t, "cost")), float64(rapid.IntRange(0, 5).Draw(t, "value"))}
		}), 0, 12).Draw(t, "points")
		want, got := bruteFront(points), Front(points)
		if len(got) != len(want) {
			t.Fatalf("front of %v: %v, want %v", points, got, want)
		}
		for _, i := range got {
			if !want[i] {
				t.Fatalf("front of %v: %v, want %v", points, got, want)
			}
		}
	})
	if got := Front([]Sample{{math.NaN(), 0}, {1, math.Inf(-1)}}); len(got) != 0 {
		t.Errorf("points that are not finite on the front: %v", got)
	}
}

func TestCurve(t *testing.T) {
	c := NewCurve([]Sample{{100, 2}, {10, 4}, {10, 6}, {0, 1}, {1000, math.NaN()}, {math.Inf(1), 1}})
	if !slices.Equal(c, Curve{{10, 5}, {100, 2}}) {
		t.Fatalf("curve %v", c)
	}
	for _, test := range []struct{ cost, want float64 }{{10, 5}, {100, 2}, {math.Sqrt(1000), 3.5}} {
		if got, ok := c.At(test.cost); !ok || math.Abs(got-test.want) > 1e-12 {
			t.Errorf("at %v: %v %v, want %v", test.cost, got, ok, test.want)
		}
	}
	for _, outside := range []float64{9.99, 100.01, math.NaN()} {
		if v, ok := c.At(outside); ok {
			t.Errorf("extrapolated to %v: %v", outside, v)
		}
	}
	if _, ok := (Curve{}).At(1); ok {
		t.Error("a value of an empty curve")
	}
}

// A curve lies between its neighbours everywhere and does not depend on the
// order of the runs.
func TestCurveBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Sample {
			return Sample{rapid.Float64Range(1, 1e4).Draw(t, "cost"), rapid.Float64Range(0, 1).Draw(t, "value")}
		}), 1, 8).Draw(t, "samples")
		c := NewCurve(samples)
		slices.Reverse(samples)
		for i, s := range NewCurve(samples) {
			if s.Cost != c[i].Cost || math.Abs(s.Value-c[i].Value) > 1e-12 {
				t.Fatalf("%v and reversed %v", c, s)
			}
		}
		low, high, _ := c.Range()
		at := rapid.Float64Range(low, high).Draw(t, "at")
		v, ok := c.At(at)
		least, most := math.Inf(1), math.Inf(-1)
		for _, s := range c {
			least, most = min(least, s.Value), max(most, s.Value)
		}
		if !ok || v < least-1e-12 || v > most+1e-12 {
			t.Fatalf("%v at %v: %v", c, at, v)
		}
	})
}

func TestArea(t *testing.T) {
	near(t, "a triangle and a rectangle", Area([]float64{0, 2, 4}, []float64{0, 2, 2}), 1.5, 1e-15)
	near(t, "a point", Area([]float64{7}, []float64{3}), 3, 0)
}

// By hand: 3·0.016, then 2·0.019, which must not be less, then 0.607.
func TestHolm(t *testing.T) {
	got := Holm([]float64{0.019, 0.607, 0.016})
	for i, want := range []float64{0.048, 0.607, 0.048} {
		near(t, "corrected p", got[i], want, 1e-12)
	}
}

// Corrected values keep the order, are at least the raw ones and at most
// Bonferroni's.
func TestHolmBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 20).Draw(t, "p")
		h := Holm(p)
		for i := range p {
			if h[i] < p[i] || h[i] > min(1, float64(len(p))*p[i]) {
				t.Fatalf("%v becomes %v", p, h)
			}
			for j := range p {
				if p[i] < p[j] && h[i] > h[j] {
					t.Fatalf("%v becomes %v", p, h)
				}
			}
		}
	})
}

func TestPairedT(t *testing.T) {
	// With two degrees of freedom p = 1 − t/√(2+t²), and here t = √7: p = 1 − √7/3.
	// The 97.5 % quantile is 4.3027, the standard error √7/3.
	e := PairedT([]float64{1, 2, 4}, 0)
	near(t, "p", e.P, 1-math.Sqrt(7)/3, 1e-9)
	near(t, "low", e.Low, 7./3-4.3027*math.Sqrt(7)/3, 1e-4)
	near(t, "high", e.High, 7./3+4.3027*math.Sqrt(7)/3, 1e-4)
	if e := PairedT([]float64{0, 0, 0, 0}, 0); e.P != 1 || e.Low != 0 || e.High != 0 {
		t.Errorf("no difference: %+v", e)
	}
	if e := PairedT([]float64{2, 2, 2, 2}, 0); e.P != 0.125 {
		t.Errorf("equal differences: %+v", e)
	}
	if e := PairedT([]float64{1, 1}, 0); e.P != 1 || !math.IsInf(e.High, 1) {
		t.Errorf("two replicates decide: %+v", e)
	}
}

// percentile is the 95 % percentile bootstrap interval of a mean, which this
// package does not use.
func percentile(r *rand.Rand, d []float64) (low, high float64) {
	const resamples = 400
	means := make([]float64, resamples)
	for i := range means {
		for range d {
			means[i] += d[r.IntN(len(d))] / float64(len(d))
		}
	}
	slices.Sort(means)
	return stat.Quantile(Level/2, stat.Empirical, means, nil), stat.Quantile(1-Level/2, stat.Empirical, means, nil)
}

// The reason why intervals are Student's: at five replicates those of the
// percentile bootstrap cover far less than the 95 % they claim. Differences are
// of error rates on 2,500 test points, in whole points of the test set, with
// replicates that vary, so neither normal nor continuous.
func TestCoverage(t *testing.T) {
	const trials, replicates, test = 2000, 5, 2500
	r := rand.New(rand.NewPCG(3, 7))
	rate := func(p float64) float64 {
		z := r.NormFloat64() * math.Sqrt(p*(1-p)/test)
		return math.Round((p+z)*test) / test
	}
	coveredT, coveredB := 0, 0
	for range trials {
		d := make([]float64, replicates)
		for i := range d {
			level := 0.04 + 0.01*r.ExpFloat64() // a replicate's own
			d[i] = rate(level+0.003) - rate(level)
		}
		if e := PairedT(d, 0); e.Low <= 0.003 && 0.003 <= e.High {
			coveredT++
		}
		if low, high := percentile(r, d); low <= 0.003 && 0.003 <= high {
			coveredB++
		}
	}
	byT, byB := float64(coveredT)/trials, float64(coveredB)/trials
	t.Logf("of %d intervals of 95 %%: Student's t covers %.1f %%, the percentile bootstrap %.1f %%", trials, 100*byT, 100*byB)
	if math.Abs(byT-0.95) > 0.015 { // three standard errors
		t.Errorf("Student's interval covers %.1f %%", 100*byT)
	}
	if byB > 0.9 {
		t.Errorf("the percentile bootstrap covers %.1f %%: the reason given for not using it is gone", 100*byB)
	}
}

func TestCliques(t *testing.T) {
	got := Cliques([]float64{1, 1.5, 2.2, 4, 4.1, 9}, 1)
	if !slices.Equal(got, [][2]int{{0, 1}, {1, 2}, {3, 4}}) {
		t.Errorf("groups %v", got)
	}
	if got := Cliques([]float64{1, 2, 3}, 2); !slices.Equal(got, [][2]int{{0, 2}}) {
		t.Errorf("one group: %v", got)
	}
}
