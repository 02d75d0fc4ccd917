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
