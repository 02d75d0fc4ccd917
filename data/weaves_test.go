package data

import (
	"slices"
	"testing"
)

// TestWeavesImages holds the textures of the default draw to the sum committed
// in manifest.json, and looks whether each is worth having: many grey levels,
// none of the others, and another one in another draw.
func TestWeavesImages(t *testing.T) {
	m, err := lookup("weaves")
	if err != nil {
		t.Fatal(err)
	}
	images, others := weaveImages(1), weaveImages(2)
	if len(images) != m.Classes || len(m.Generated) != 1 {
		t.Fatalf("%d images, %d sums", len(images), len(m.Generated))
	}
	if got := sumImages(images); got != m.Generated[0].SHA256 {
		t.Errorf("SHA-256 %s, committed %s", got, m.Generated[0].SHA256)
	}
	for i, a := range images {
		if a.Width != weavesSide || a.Height != weavesSide || len(a.Pix) != weavesSide*weavesSide {
			t.Fatalf("%s is %d×%d", weaves[i].name, a.Width, a.Height)
		}
		levels := slices.Clone(a.Pix)
		slices.Sort(levels)
		if low, high := levels[len(levels)/10], levels[len(levels)*9/10]; high-low < 40 || low < 10 || high > 245 {
			t.Errorf("%s: a tenth of the grey levels is below %d, a tenth above %d", weaves[i].name, low, high)
		}
		if slices.Equal(a.Pix, others[i].Pix) {
			t.Errorf("%s is the same in two draws", weaves[i].name)
		}
	}
}

// TestNoise: heights stay within their range, meet the lattice, and repeat.
func TestNoise(t *testing.T) {
	n := newNoise(newSource(1, 1), 7, 5)
	for y := range weavesSide {
		for x := range weavesSide {
			v := n.at(x, y)
			if v < 0 || v > 255 || v != n.at(x-weavesSide, y+weavesSide) {
				t.Fatalf("height %d at (%d, %d), %d a period on", v, x, y, n.at(x-weavesSide, y+weavesSide))
			}
			if x%7 == 0 && y%5 == 0 && v != n.heights[y/5*n.columns+x/7] {
				t.Fatalf("height %d at (%d, %d), the lattice has %d", v, x, y, n.heights[y/5*n.columns+x/7])
			}
		}
	}
}

// TestCells compares with all centres.
func TestCells(t *testing.T) {
	root := func(n int) (r int) { // in integers
		for (r+1)*(r+1) <= n {
			r++
		}
		return r
	}
	c := newCells(newSource(1, 2), 10)
	for y := range 60 {
		for x := range 60 {
			var all []int
			for row := -2; row < 9; row++ {
				for column := -2; column < 9; column++ {
					dx := column*10 + c.dx.at(column, row)*10/256 - x
					dy := row*10 + c.dy.at(column, row)*10/256 - y
					all = append(all, dx*dx+dy*dy)
				}
			}
			slices.Sort(all)
			first, second := c.distances(x, y)
			if first != root(all[0]) {
				t.Fatalf("(%d, %d) is %d from a centre, want %d", x, y, first, root(all[0]))
			}
			if second < first || second < root(all[1]) {
				t.Fatalf("(%d, %d) is %d from the second centre, want %d", x, y, second, root(all[1]))
			}
		}
	}
}

// TestGoldenWeaves loads the default variant: its features have the same bytes
// on every platform. By its name it runs without the race detector too, as make
// golden does.
func TestGoldenWeaves(t *testing.T) {
	if raceEnabled {
		t.Skip("TestTextureSet has what can race; this takes six seconds of products")
	}
	const want = "71a89f9189e24d220a37282967e3c3c8c649007ba86592eee806b102c5cb80fa"
	t.Chdir(t.TempDir())
	s, err := Load(Ref{Name: "weaves"}, Finder{})
	if err != nil {
		t.Fatal(err)
	}
	checkSplit(t, s.Train, 4000, 256)
	checkSplit(t, s.Test, 2000, 256)
	if got := SumSplits(s.Train, s.Test); got != want {
		t.Errorf("SHA-256 %s, committed %s", got, want)
	}
	m, err := lookup("weaves")
	if err != nil {
		t.Fatal(err)
	}
	if s.Classes != 13 || s.Sums["weaves"] != m.Generated[0].SHA256 {
		t.Errorf("%d classes, sums %v", s.Classes, s.Sums)
	}
}
