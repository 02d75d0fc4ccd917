package data

import (
	"runtime"
	"slices"
	"testing"

	"polkrepro/internal/race"
)

// TestGlyphsSums holds the first examples to the sum committed in
// manifest.json, whatever the number of goroutines.
func TestGlyphsSums(t *testing.T) {
	m := must(lookup("glyphs"))
	if len(m.Generated) != 1 || m.Generated[0].First < 100 {
		t.Fatalf("committed %+v", m.Generated)
	}
	for _, procs := range []int{1, 3} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		train, test := glyphSplits(m.Generated[0].First)
		checkSplit(t, train, m.Generated[0].First, 784)
		checkSplit(t, test, m.Generated[0].First, 784)
		if got := SumSplits(train, test); got != m.Generated[0].SHA256 {
			t.Errorf("%d goroutines: SHA-256 %s, committed %s", procs, got, m.Generated[0].SHA256)
		}
	}
}

// TestGoldenGlyphs looks at the whole set, without the race detector.
func TestGoldenGlyphs(t *testing.T) {
	if race.Enabled {
		t.Skip("TestGlyphsSums has what can race; the whole set takes five seconds")
	}
	const want = "0fc9fb1b2ba8cedf77d835232aea23ff9c603e3bf40b6f4ea20da90c26e8371f"
	s := must(Load(Ref{Name: "glyphs"}, Finder{}))
	if s.Sums["glyphs"] != want || s.Classes != 10 {
		t.Errorf("%d classes, SHA-256 %s, committed %s", s.Classes, s.Sums["glyphs"], want)
	}
	checkSplit(t, s.Train, 20000, 784)
	checkSplit(t, s.Test, 5000, 784)
	seen := make(map[[784]float32]bool)
	for _, part := range []*Split{s.Train, s.Test} {
		var count [10]int
		for i, y := range part.Y {
			count[int(y)]++
			x := [784]float32(part.Row(i))
			if seen[x] {
				t.Fatalf("example %d is a duplicate", i)
			}
			seen[x] = true
			if ink := slices.Max(x[:]); !(ink >= 0.3) || ink > 1 || slices.Min(x[:]) != 0 {
				t.Fatalf("example %d has values from %v to %v", i, slices.Min(x[:]), ink)
			}
		}
		for c, n := range count {
			if n != part.N/10 {
				t.Errorf("%d examples of class %d, want %d", n, c, part.N/10)
			}
		}
	}
	first, _ := glyphSplits(10)
	if !slices.Equal(first.X, s.Train.X[:10*784]) || !slices.Equal(first.Y, s.Train.Y[:10]) {
		t.Error("the first examples are others where they are all that is generated")
	}
}
