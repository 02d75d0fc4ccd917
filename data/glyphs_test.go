package data

import (
	"math"
	"runtime"
	"slices"
	"testing"
)

// TestGlyphsSums holds the first examples to the sum committed in
// manifest.json, whatever the number of goroutines.
func TestGlyphsSums(t *testing.T) {
	m, err := lookup("glyphs")
	if err != nil {
		t.Fatal(err)
	}
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
	if raceEnabled {
		t.Skip("TestGlyphsSums has what can race; the whole set takes five seconds")
	}
	const want = "0fc9fb1b2ba8cedf77d835232aea23ff9c603e3bf40b6f4ea20da90c26e8371f"
	s, err := Load(Ref{Name: "glyphs"}, Finder{})
	if err != nil {
		t.Fatal(err)
	}
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
			if ink := slices.Max(x[:]); ink < 0.3 || ink > 1 || slices.Min(x[:]) != 0 {
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

// TestRasterSquare: covers of a square are exact, its blur spreads them, and
// what lies outside of the image does no harm.
func TestRasterSquare(t *testing.T) {
	var r raster
	x := make([]float32, glyphsSide*glyphsSide)
	r.add([]point{{3.5, 2}, {6, 2}, {6, 4.25}, {3.5, 4.25}})
	r.add([]point{{20, -9}, {40, -9}, {40, 1}, {20, 1}})
	r.write(x, 0, 255)
	for i := range glyphsSide {
		for j := range glyphsSide {
			want := 0.0
			if i == 0 && j >= 20 {
				want = 1
			}
			if i >= 2 && i <= 4 && j >= 3 && j <= 5 {
				want = 1
				if j == 3 {
					want /= 2
				}
				if i == 4 {
					want /= 4
				}
			}
			if got := float64(x[i*glyphsSide+j]); math.Abs(got-want) > 0.5001/255 {
				t.Errorf("pixel (%d, %d) is %v, want %v", j, i, got, want)
			}
		}
	}
	r.write(x, 256, 255) // one pixel of the blurred image: 1, 2, 1 in both directions
	if got, want := float64(x[2*glyphsSide+4]), (0.5+2+1)/4*0.75; math.Abs(got-want) > 0.5001/255 {
		t.Errorf("blurred: %v, want %v", got, want)
	}
	r.write(x, 0, 128)
	if got := x[2*glyphsSide+4]; got != float32(128)/255 {
		t.Errorf("fainter: %v", got)
	}
}
