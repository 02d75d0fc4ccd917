package plot

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// enclosed returns the area within closed lines. The area within a clockwise line is subtracted.
func enclosed(lines [][]Node) float64 {
	sum := 0.0
	for _, line := range lines {
		for i, p := range line[1:] {
			sum += line[i].X*p.Y - p.X*line[i].Y
		}
	}
	return sum / 2
}

// TestContourOfAHill checks a level of a field that falls off from a point in the middle of a grid.
func TestContourOfAHill(t *testing.T) {
	const n, radius = 41, 12.5
	v := make([]float64, n*n)
	for i := range v {
		v[i] = -math.Hypot(float64(i%n)-20, float64(i/n)-20)
	}
	lines := Contours(n, v, -radius)
	for _, p := range slices.Concat(lines...) {
		// Linear interpolation of a distance is off by at most 1/(8·radius).
		if r := math.Hypot(p.X-20, p.Y-20); !(math.Abs(r-radius) <= 0.02) {
			t.Errorf("%v lies %v from the middle, want %v", p, r, radius)
		}
	}
	if a := enclosed(lines); !(math.Abs(a-math.Pi*radius*radius) <= 3) { // it would be below 0 if the hill were on the line's right
		t.Errorf("the line encloses %v, want π·%v²", a, radius)
	}
}

// TestSaddle checks that the middle of a cell decides which of its corners are joined.
func TestSaddle(t *testing.T) {
	for _, c := range []struct {
		high float64
		want float64 // area above 0
	}{
		{3, 1 - 2*0.25*0.25/2},        // the middle is above: only the low corners are cut off
		{1. / 3, 2 * 0.25 * 0.25 / 2}, // it is below: only the high corners are kept
	} {
		if a := enclosed(Regions(2, []float64{c.high, -1, -1, c.high})); !(math.Abs(a-c.want) <= 1e-12) {
			t.Errorf("high corners of %v: area %v, want %v", c.high, a, c.want)
		}
	}
}

// TestRegions checks that the regions above and below 0 together fill the grid, and that every line
// around them is closed.
func TestRegions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 9).Draw(t, "n")
		v := rapid.SliceOfN(rapid.Float64Range(-2, 2), n*n, n*n).Draw(t, "v")
		below := make([]float64, len(v))
		for i := range v {
			v[i] += 1e-3 * math.Sqrt(float64(i)+2) // so that no node and no middle of a cell is at 0, which lies on neither side
			below[i] = -v[i]
		}
		total := 0.0
		for _, field := range [][]float64{v, below} {
			for _, line := range Regions(n, field) {
				if line[0] != line[len(line)-1] {
					t.Fatalf("a line is not closed: %v", line)
				}
				total += enclosed([][]Node{line})
			}
		}
		if want := float64((n - 1) * (n - 1)); !(math.Abs(total-want) <= 1e-9*want) {
			t.Fatalf("the regions fill %v of %v", total, want)
		}
	})
}
