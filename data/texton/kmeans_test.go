package texton

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// clouds returns n random vectors about k points.
func clouds(seed uint64, n, dim, k, spread int) []float64 {
	src := rand.NewPCG(seed, 11)
	places := make([]int, k*dim)
	for i := range places {
		places[i] = int(below(src, 8_000_000)) - 4_000_000
	}
	var x []float64
	for i := range n {
		for q := range dim {
			x = append(x, float64(places[i%k*dim+q]+int(below(src, uint64(2*spread+1)))-spread))
		}
	}
	return x
}

// nearestTo returns the index of the nearest centre, by the definition, in integers.
func nearestTo(v, centres []float64) uint8 {
	best, at := int64(math.MaxInt64), 0
	for j := 0; j*len(v) < len(centres); j++ {
		var d int64
		for q, c := range centres[j*len(v) : (j+1)*len(v)] {
			e := int64(v[q]) - int64(c)
			d += e * e
		}
		if d < best {
			best, at = d, j
		}
	}
	return uint8(at)
}

// TestNearest checks that there is no rounding error, although squares are near 2⁵⁰, and
// that ties go to the lowest index.
func TestNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim, k := rapid.IntRange(1, 48).Draw(t, "dim"), rapid.IntRange(1, 40).Draw(t, "k")
		spread := rapid.SampledFrom([]int{1, 1000}).Draw(t, "spread")
		n := rapid.IntRange(1, 150).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		x, centres := clouds(seed, n, dim, 3, spread), clouds(seed, k, dim, 3, spread)
		labels := make([]uint8, n)
		newDictionary(centres, dim).label(x, labels, 2)
		for i, got := range labels {
			if want := nearestTo(x[i*dim:(i+1)*dim], centres); got != want {
				t.Fatalf("vector %d is nearest to %d, want %d", i, got, want)
			}
		}
	})
}

// TestLearn compares learn with Lloyd's iterations, computed by the definition from the same
// initial centres.
func TestLearn(t *testing.T) {
	const n, dim, k = 700, 5, 9
	x := clouds(3, n, dim, 6, 900_000)
	want := seed(x, dim, k, rand.NewPCG(1, 1))
	for range 4 {
		sums, counts := make([]int64, k*dim), make([]int64, k)
		for i := range n {
			label := nearestTo(x[i*dim:(i+1)*dim], want)
			counts[label]++
			for q := range dim {
				sums[int(label)*dim+q] += int64(x[i*dim+q])
			}
		}
		for i, sum := range sums {
			want[i] = math.Round(float64(sum) / float64(counts[i/dim]))
		}
	}
	for _, threads := range []int{1, 3} {
		if got := learn(x, dim, k, 4, rand.NewPCG(1, 1), threads); !slices.Equal(got.centres, want) {
			t.Errorf("%d threads: centres\n%v, want\n%v", threads, got.centres, want)
		}
	}
	// learn stops when labels no longer change.
	a, b := learn(x, dim, k, 1000, rand.NewPCG(1, 1), 1), learn(x, dim, k, 1001, rand.NewPCG(1, 1), 1)
	labels := make([]uint8, n)
	a.label(x, labels, 1)
	if !slices.Equal(a.centres, b.centres) || !slices.Equal(a.means(x, labels), a.centres) {
		t.Error("not converged after 1000 iterations")
	}
}

// TestSeed checks that centres are vectors of the input, and different ones as long as there
// are enough.
func TestSeed(t *testing.T) {
	x := clouds(5, 60, 2, 60, 0) // 60 different vectors
	x = append(x, x...)
	centres := seed(x, 2, 60, rand.NewPCG(2, 2))
	seen := make(map[[2]float64]bool)
	for i := 0; i < len(x); i += 2 {
		seen[[2]float64{x[i], x[i+1]}] = true
	}
	for i := 0; i < len(centres); i += 2 {
		c := [2]float64{centres[i], centres[i+1]}
		if !seen[c] {
			t.Fatalf("centre %v is not a vector, or is a duplicate", c)
		}
		delete(seen, c)
	}
	same := slices.Repeat([]float64{3, 4}, 10)
	if got := seed(same, 2, 3, rand.NewPCG(2, 2)); !slices.Equal(got, same[:6]) {
		t.Errorf("centres of ten equal vectors: %v", got)
	}
}
