package texton

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/internal/testutil"
)

func TestDraw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.IntRange(1, 9).Draw(t, "side")
		r := Region{X0: rapid.IntRange(0, 9).Draw(t, "x0"), Y0: rapid.IntRange(0, 9).Draw(t, "y0")}
		r.X1 = r.X0 + side + rapid.IntRange(0, 5).Draw(t, "right")
		r.Y1 = r.Y0 + side + rapid.IntRange(0, 5).Draw(t, "below")
		images := rapid.IntRange(1, 4).Draw(t, "images")
		other := Region{X0: r.X1, Y0: r.Y0, X1: r.X1 + side + rapid.IntRange(0, 2).Draw(t, "beside"), Y1: r.Y1}
		regions := []Region{r, other}
		within := func(p Patch, r Region) bool {
			return p.X >= r.X0 && p.Y >= r.Y0 && p.X+side <= r.X1 && p.Y+side <= r.Y1
		}
		all := images * (r.X1 - r.X0 + other.X1 - other.X0 - 2*side + 2) * (r.Y1 - r.Y0 - side + 1)
		first := rapid.IntRange(0, all).Draw(t, "first")
		src := rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)
		taken := make(map[Patch]bool)
		patches := append(Draw(src, first, side, images, regions, taken), Draw(src, all-first, side, images, regions, taken)...)
		seen := make(map[Patch]bool)
		for _, p := range patches {
			if seen[p] {
				t.Fatalf("%+v twice", p)
			}
			seen[p] = true
			if p.Image < 0 || p.Image >= images || within(p, r) == within(p, other) {
				t.Fatalf("%+v is not in one of %+v", p, regions)
			}
		}
		if len(seen) != all {
			t.Errorf("%d patches of %d", len(seen), all)
		}
		testutil.MustPanic(t, func() { Draw(src, 1, side, images, regions, taken) })
	})
}

func TestHistogram(t *testing.T) {
	m := speckled(1, 40, 30, 0, 7)
	got := make([]float32, 9)
	for i := range got {
		got[i] = 99 // must be overwritten
	}
	p := Patch{1, 5, 3}
	Histogram([]*Image{nil, m}, p, 20, got)
	want, sum := make([]float32, 9), 0.0
	for y := 3; y < 23; y++ {
		for x := 5; x < 25; x++ {
			want[m.Pix[y*40+x]]++
		}
	}
	for i := range got {
		sum += float64(got[i])
		if got[i] != want[i]/400 {
			t.Errorf("share of texton %d is %v, want %v", i, got[i], want[i]/400)
		}
	}
	if !(math.Abs(sum-1) <= 1e-6) {
		t.Errorf("shares add up to %v", sum)
	}
	testutil.MustPanic(t, func() { Histogram([]*Image{m}, Patch{0, 0, 11}, 20, got) })
}

// TestOverlap compares Overlap with a search of all training patches for each test pixel.
func TestOverlap(t *testing.T) {
	images := []*Image{{Width: 20, Height: 15}, {Width: 20, Height: 15}}
	rapid.Check(t, func(t *rapid.T) {
		const side = 4
		src := rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)
		draw := func(n int) []Patch {
			return Draw(src, n, side, 2, []Region{{X1: 20, Y1: 15}}, make(map[Patch]bool))
		}
		train, test := draw(rapid.IntRange(0, 12).Draw(t, "train")), draw(rapid.IntRange(1, 12).Draw(t, "test"))
		patches, pixels := 0.0, 0.0
		for _, q := range test {
			in := 0
			for i := range side * side {
				x, y := q.X+i%side, q.Y+i/side
				for _, p := range train {
					if p.Image == q.Image && x >= p.X && x < p.X+side && y >= p.Y && y < p.Y+side {
						in++
						break
					}
				}
			}
			pixels += float64(in)
			if in > 0 {
				patches++
			}
		}
		n := float64(len(test))
		touched, covered := Overlap(images, train, test, side)
		if touched != patches/n || covered != pixels/(n*side*side) {
			t.Errorf("%v and %v, want %v and %v", touched, covered, patches/n, pixels/(n*side*side))
		}
	})
}
