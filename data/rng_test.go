package data

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestGauss2 holds the first four moments, the correlation and the tails of
// 2·10⁵ Gaussians to five standard errors.
func TestGauss2(t *testing.T) {
	const n = 100_000
	src := newSource(1, 99)
	var m1, m2, m3, m4, cross float64
	beyond2 := 0
	for range n {
		z1, z2 := src.gauss2()
		cross += z1 * z2
		for _, z := range []float64{z1, z2} {
			m1 += z
			m2 += z * z
			m3 += z * z * z
			m4 += z * z * z * z
			if math.Abs(z) > 2 {
				beyond2++
			}
		}
	}
	p := math.Erfc(2 / math.Sqrt2)
	tests := []struct {
		name             string
		sum, want, sigma float64 // of one term
		n                float64
	}{
		{"mean", m1, 0, 1, 2 * n},
		{"second moment", m2, 1, math.Sqrt(2), 2 * n},
		{"third moment", m3, 0, math.Sqrt(15), 2 * n},
		{"fourth moment", m4, 3, math.Sqrt(96), 2 * n},
		{"correlation", cross, 0, 1, n},
		{"beyond 2", float64(beyond2), p, math.Sqrt(p * (1 - p)), 2 * n},
	}
	for _, tt := range tests {
		if got := tt.sum / tt.n; math.Abs(got-tt.want) > 5*tt.sigma/math.Sqrt(tt.n) {
			t.Errorf("%s = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestIntn(t *testing.T) {
	const n, draws = 5, 50_000
	src := newSource(3, 0)
	var count [n]int
	for range draws {
		count[src.intn(n)]++
	}
	for i, c := range count {
		if math.Abs(float64(c)-draws/n) > 5*math.Sqrt(draws/n) {
			t.Errorf("%d came %d times of %d", i, c, draws)
		}
	}
}

func TestPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		p := newSource(seed, 1).permutation(n)
		if !slices.Equal(p, newSource(seed, 1).permutation(n)) {
			t.Error("the same seed gave two permutations")
		}
		slices.Sort(p)
		for i, v := range p {
			if i != v {
				t.Fatalf("not a permutation of %d: %v", n, p)
			}
		}
	})
}
