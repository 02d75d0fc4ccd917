package data

import (
	"math"
	"testing"

	"polkrepro/internal/testutil"
)

func TestSumSplits(t *testing.T) {
	a := &Split{N: 1, Dim: 2, X: []float32{1, 2}, Y: []float64{3}}
	b := &Split{N: 1, Dim: 2, X: []float32{1, 2}, Y: []float64{4}}
	// printf '\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x08\x40' | sha256sum
	const want = "389de66ca049ba4d34a093b385f487e2d4e5e23be1cd89852d8fec9eeb4f683c"
	if got := SumSplits(a); got != want {
		t.Errorf("SumSplits = %s, want %s", got, want)
	}
	if SumSplits(a, b) == SumSplits(b, a) || SumSplits(a) == SumSplits(b) {
		t.Error("different splits have the same sum")
	}
}

// checkSplit fails the test if the sizes of a split are inconsistent or a feature is not
// finite.
func checkSplit(t *testing.T, s *Split, n, dim int) {
	t.Helper()
	if s.N != n || s.Dim != dim || len(s.X) != n*dim || len(s.Y) != n {
		t.Fatalf("N = %d, Dim = %d, %d features, %d targets; want N = %d, Dim = %d", s.N, s.Dim, len(s.X), len(s.Y), n, dim)
	}
	for i, x := range s.X {
		if v := float64(x); math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("feature %d of example %d is %v", i%dim, i/dim, x)
		}
	}
}

// TestPrintedVariance checks that with the printed component variance of 0.2 no classifier
// can reach the error rates of the paper's Table 2, which are at most 4.36 % except BSGD's:
// the Bayes error is at least 12 % on each of the first 1,000 draws of the means.
func TestPrintedVariance(t *testing.T) {
	least := math.Inf(1)
	for draw := range uint64(1000) {
		means, variance, err := MultidistMixture(AsPrinted, draw+1)
		testutil.NoError(t, err)
		least = min(least, bayesError(means, variance, coarseStep))
	}
	if !(least >= 0.12+coarseMargin/5) { // the coarse grid's error is at most coarseMargin/7
		t.Errorf("the least Bayes error is %v", least)
	}
}
