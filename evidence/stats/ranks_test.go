package stats

import (
	"math"
	"slices"
	"testing"

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
	// With 2 and d degrees of freedom p = (1 + 2F/d)^(−d/2). By hand, 3 classifiers
	// on 4 data sets: χ² = 4.5, F = 3·4.5/(8 − 4.5) and d = 6.
	f, p = Friedman([]float64{1.25, 2, 2.75}, 4)
	near(t, "F by hand", f, 27./7, 1e-12)
	near(t, "p by hand", p, math.Pow(7./16, 3), 1e-12)
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
	if r = Rank([][]float64{{1, 2}, {2, 1}}); r.F != 0 || !slices.Equal(r.Mean, []float64{1.5, 1.5}) {
		t.Errorf("two heuristics that share the wins: %+v", r)
	}
}

// The smallest value has rank 1; equal values share a rank, and ranks sum as if there were none.
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
		if !(math.Abs(sum-n*(n+1)/2) <= 1e-9) {
			t.Fatalf("ranks %v sum to %v", ranks, sum)
		}
	})
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
