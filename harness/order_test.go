package harness

import (
	"slices"
	"testing"
)

// Records of finished runs depend on these numbers: if the numbers change, so must
// experiments.ResultVersion. An implementation of PCG and of the shuffle in Python computed them.
func TestOrderGolden(t *testing.T) {
	tests := []struct {
		n    int
		seed uint64
		want []int
	}{
		{1, 1, []int{0, 0, 0}},
		{8, 1, []int{5, 3, 1, 2, 6, 7, 0, 4, 6, 3, 2, 1, 4, 5, 0, 7}},
		{8, 2, []int{4, 3, 6, 0, 1, 2, 7, 5, 5, 3, 4, 6, 1, 2, 7, 0}},
	}
	for _, tt := range tests {
		o := permutations(tt.n, tt.seed)
		got := make([]int, len(tt.want))
		for i := range got {
			got[i] = o()
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("n = %d, seed %d: got %v, want %v", tt.n, tt.seed, got, tt.want)
		}
	}
	o := permutations(60000, 7)
	const golden = uint64(15419053386691949477)
	var sum uint64
	for i := range 120000 {
		sum = sum*31 + uint64(o())*uint64(i+1)
	}
	if sum != golden {
		t.Errorf("two epochs of 60000: checksum %d, want %d", sum, golden)
	}
}

// TestSampler: draws are uniform with replacement, and the same for the same seed.
func TestSampler(t *testing.T) {
	a, b, other := draws(10, 1), draws(10, 1), draws(10, 2)
	counts := make([]int, 10)
	same := 0
	for range 10_000 {
		i := a()
		counts[i]++
		if i != b() {
			t.Fatal("two samplers of one seed differ")
		}
		if i == other() {
			same++
		}
	}
	for i, n := range counts {
		if n < 850 || n > 1150 { // five standard deviations
			t.Errorf("point %d is drawn %d times of 10,000", i, n)
		}
	}
	if same > 1150 {
		t.Errorf("seeds 1 and 2 agree %d times", same)
	}
}
