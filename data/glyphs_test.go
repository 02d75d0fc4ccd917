package data

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
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

// TestOutlines: every face has ten digits of height 1 about the origin, within
// the control points' reach, with as many contours as a digit has; and outlines
// run so that thickening makes them larger.
func TestOutlines(t *testing.T) {
	holes := []int{1, 0, 0, 0, 1, 0, 1, 0, 2, 1}
	for c, faces := range glyphOutlines() {
		if len(faces) != 10 {
			t.Errorf("%d faces of %d", len(faces), c)
		}
		for f, o := range faces {
			// A zero may have a dot or a slash within, of one contour or of two holes.
			if n := len(o); n < 1+holes[c] || n > 1+holes[c] && c != 0 || n > 4 {
				t.Errorf("digit %d, face %d: %d contours", c, f, n)
			}
			low, high := math.Inf(1), math.Inf(-1)
			thin, thick := 0.0, 0.0
			for _, contour := range o {
				var moved []point
				for i, p := range contour {
					low, high = min(low, p.y), max(high, p.y)
					if math.Abs(p.x) > -elasticLow || math.Abs(p.y) > -elasticLow {
						t.Fatalf("digit %d, face %d: point %v", c, f, p)
					}
					moved = append(moved, contour.thickened(i, glyphThickness))
				}
				thin, thick = thin+area(contour), thick+area(moved)
			}
			if math.Abs(high-0.5) > 1e-12 || math.Abs(low+0.5) > 1e-12 {
				t.Errorf("digit %d, face %d: from %v to %v", c, f, low, high)
			}
			if math.Abs(thick) < 1.05*math.Abs(thin) {
				t.Errorf("digit %d, face %d: area %v, thickened %v", c, f, thin, thick)
			}
		}
	}
}

// area is the signed area of a polygon.
func area(polygon []point) float64 {
	var sum float64
	for i, p := range polygon {
		q := polygon[(i+1)%len(polygon)]
		sum += (p.x*q.y - q.x*p.y) / 2
	}
	return sum
}

// TestRaster compares with the share of each scan line that lies in a polygon,
// by the crossings' places.
func TestRaster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var polygon []point
		for range rapid.IntRange(3, 7).Draw(t, "corners") {
			polygon = append(polygon, point{rapid.Float64Range(0, glyphsSide).Draw(t, "x"), rapid.Float64Range(0, glyphsSide).Draw(t, "y")})
		}
		var r raster
		r.add(polygon)
		r.sum()
		for i := range glyphsSide {
			for j := range glyphsSide {
				want := 0.0
				for line := range rasterLines {
					want += crossed(polygon, float64(j), float64(i)+(float64(line)+0.5)/rasterLines)
				}
				want = min(math.Abs(want), rasterLines)
				// A crossing is rounded to a subpixel, a corner to half of one.
				tol := 0.05 * float64(len(polygon)*rasterLines)
				if got := float64(r.cover[i+1][j+1]) / subpixels; math.Abs(got-want) > tol {
					t.Fatalf("pixel (%d, %d) is covered %v of %d, want %v", j, i, got, rasterLines, want)
				}
			}
		}
	})
}

// crossed returns the winding number of a polygon, averaged from (x, y) to
// (x+1, y).
func crossed(polygon []point, x, y float64) float64 {
	var sum float64
	for i, p := range polygon {
		q := polygon[(i+1)%len(polygon)]
		if (p.y <= y) == (q.y <= y) {
			continue
		}
		at := p.x + (y-p.y)/(q.y-p.y)*(q.x-p.x)
		inside := min(max(x+1-at, 0), 1)
		if q.y > p.y {
			sum += inside
		} else {
			sum -= inside
		}
	}
	return sum
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

// TestSpline: weights are those of a smooth partition of one.
func TestSpline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-0.8, 0.8).Draw(t, "x")
		cell, w := splineAt(x)
		sum, mean := 0.0, 0.0
		for a, v := range w {
			if v < 0 {
				t.Errorf("weights %v", w)
			}
			sum += v
			mean += v * (elasticLow + elasticSide*float64(cell+a-1))
		}
		// A cubic B-spline gives lines back.
		if cell < 0 || cell >= elasticCells || math.Abs(sum-1) > 1e-12 || math.Abs(mean-x) > 1e-12 {
			t.Errorf("at %v: cell %d, weights %v, sum %v, mean %v", x, cell, w, sum, mean)
		}
	})
	for _, x := range []float64{-5, -0.8, 0.8, 5} {
		if cell, _ := splineAt(x); cell != map[bool]int{true: 0, false: elasticCells - 1}[x < 0] {
			t.Errorf("at %v: cell %d", x, cell)
		}
	}
}

// TestDistortionAffine: the affine part turns, shears and scales as its bounds
// say.
func TestDistortionAffine(t *testing.T) {
	for i := range 500 {
		d := newDistortion(newSource(9, uint64(i)))
		d.elastic = [elasticPoints][elasticPoints]point{}
		scale := math.Sqrt(d.xx*d.yy-d.xy*d.yx) / glyphHeight
		if !(scale >= 1-glyphScale && scale <= 1+glyphScale) {
			t.Fatalf("%d: scaled by %v", i, scale)
		}
		p := d.apply(point{})
		if math.Abs(p.x-glyphsSide/2) > glyphShift || math.Abs(p.y-glyphsSide/2) > glyphShift {
			t.Fatalf("%d: the centre is at %v", i, p)
		}
		if d.ink < glyphFaintest || d.ink > 255 || d.blur < 0 || d.blur > 256 || math.Abs(d.thickness) > glyphThickness {
			t.Fatalf("%d: ink %d, blur %d, thickness %v", i, d.ink, d.blur, d.thickness)
		}
	}
}

func BenchmarkGlyphs(b *testing.B) {
	for b.Loop() {
		glyphSplits(1000)
	}
	b.ReportMetric(2000*float64(b.N)/b.Elapsed().Seconds(), "glyphs/s")
}
