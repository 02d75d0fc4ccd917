package data

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/data/texton"
	"polkrepro/internal/testutil"
)

// TestDrawPatches checks that the patches of a split are different and within their image.
// In disjoint splits, training and test patches are further apart than two halves of a
// filter.
func TestDrawPatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(160, 600).Draw(t, "w"), rapid.IntRange(97, 200).Draw(t, "h")
		maps := []*texton.Image{{Width: w, Height: h}, {Width: w, Height: h}}
		nTrain, nTest := rapid.IntRange(5, 10).Draw(t, "train"), rapid.IntRange(5, 10).Draw(t, "test")
		l := rapid.SampledFrom(layouts).Draw(t, "layout")
		draw := rapid.Uint64().Draw(t, "draw")
		train, test := drawPatches(maps, nTrain, nTest, l.layout, draw)
		if len(train) != nTrain || len(test) != nTest {
			t.Fatalf("%d and %d patches", len(train), len(test))
		}
		seen := make(map[texton.Patch]bool)
		for _, p := range slices.Concat(train, test) {
			if seen[p] || p.X < 0 || p.Y < 0 || p.X+textureSide > w || p.Y+textureSide > h || p.Image < 0 || p.Image > 1 {
				t.Errorf("%+v is a duplicate or outside its image", p)
			}
			seen[p] = true
		}
		if l.suffix == "" {
			return
		}
		for _, p := range train {
			for _, q := range test {
				if p.Image == q.Image && max(p.X-q.X, q.X-p.X, p.Y-q.Y, q.Y-p.Y)-(textureSide-1) < texton.Support {
					t.Errorf("%+v is for training, %+v for testing", p, q)
				}
			}
		}
	})
}

// tinyTextures returns three small images and cheap options.
func tinyTextures() ([]*texton.Image, texton.Options) {
	images := weaveImages(1)[4:7]
	for i, m := range images {
		images[i] = m.Crop(0, 0, 50, 52)
	}
	return images, texton.Options{Preprocessing: texton.Raw, Textons: 9, Samples: 50, Iterations: 3, Threads: 1}
}

func sameMaps(a, b []*texton.Image) bool {
	return slices.EqualFunc(a, b, func(a, b *texton.Image) bool {
		return a.Width == b.Width && a.Height == b.Height && bytes.Equal(a.Pix, b.Pix)
	})
}

// TestMapsCache checks that maps are read from the cache if they are intact, and are
// otherwise computed and written again.
func TestMapsCache(t *testing.T) {
	t.Chdir(t.TempDir())
	images, opt := tinyTextures()
	want := textonMaps(images, opt, 3)
	files, err := filepath.Glob(filepath.Join(CacheDir, "textons", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	path := files[0]
	if path != mapsPath(images, opt, 3) || !sameMaps(readMaps(path, images), want) {
		t.Fatalf("%s does not hold the maps", path)
	}
	whole := must(os.ReadFile(path))
	flipped := slices.Clone(whole)
	flipped[1000] ^= 1
	for name, b := range map[string][]byte{
		"a bit flipped": flipped, "cut": whole[:len(whole)-1], "longer": append(slices.Clone(whole), 0),
		"sum cut": whole[:20], "empty": nil,
	} {
		writeFile(t, path, b)
		if readMaps(path, images) != nil {
			t.Errorf("%s: read as whole", name)
		}
		if !sameMaps(textonMaps(images, opt, 3), want) {
			t.Errorf("%s: other maps", name)
		}
		if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, whole) {
			t.Errorf("%s: not written again, %v", name, err)
		}
	}
	// The cache is read: it returns different maps that have a correct sum.
	other := []*texton.Image{want[1], want[2], want[0]}
	testutil.NoError(t, writeMaps(path, other))
	if !sameMaps(textonMaps(images, opt, 3), other) {
		t.Error("not read from the cache")
	}
	if files, _ := filepath.Glob(filepath.Join(CacheDir, "textons", "*")); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
	// An intact file is not read for other images.
	if readMaps(path, images[:2]) != nil || readMaps(path, append(images, images[0])) != nil {
		t.Error("maps of other images read")
	}
}

// TestMapsPath checks that everything that determines the maps changes the file's name, and
// that the number of threads does not.
func TestMapsPath(t *testing.T) {
	images, opt := tinyTextures()
	paths := map[string]string{}
	add := func(name string, images []*texton.Image, opt texton.Options, draw uint64) {
		path := mapsPath(images, opt, draw)
		if other, ok := paths[path]; ok {
			t.Errorf("%s and %s have one file", name, other)
		}
		paths[path] = name
	}
	add("these", images, opt, 1)
	add("draw", images, opt, 2)
	add("images", images[1:], opt, 1)
	changed := images[0].Crop(0, 0, 50, 52)
	changed.Pix[7]++
	add("pixel", []*texton.Image{changed, images[1], images[2]}, opt, 1)
	add("shape", []*texton.Image{{Width: 52, Height: 50, Pix: images[0].Pix}, images[1], images[2]}, opt, 1)
	for name, change := range map[string]func(*texton.Options){
		"preprocessing": func(o *texton.Options) { o.Preprocessing = texton.MR8 },
		"textons":       func(o *texton.Options) { o.Textons++ },
		"samples":       func(o *texton.Options) { o.Samples++ },
		"iterations":    func(o *texton.Options) { o.Iterations++ },
	} {
		o := opt
		change(&o)
		add(name, images, o, 1)
	}
	threads := opt
	threads.Threads = 7
	if mapsPath(images, threads, 1) != mapsPath(images, opt, 1) {
		t.Error("the number of threads makes another file")
	}
}

// TestMapsNoCache: without a cache folder, maps are computed.
func TestMapsNoCache(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "data", nil) // where the folder would be
	images, opt := tinyTextures()
	if !sameMaps(textonMaps(images, opt, 3), textonMaps(images, opt, 3)) {
		t.Error("other maps")
	}
}

// TestTextureSet: classes are images, rows are histograms, and the splits of a
// draw have the same maps.
func TestTextureSet(t *testing.T) {
	t.Chdir(t.TempDir())
	images := weaveImages(1)[4:7]
	for i, m := range images {
		images[i] = m.Crop(0, 0, 160, 110)
	}
	m := &manifestSet{Info: Info{Name: "weaves", Train: 200, Test: 100}}
	for _, variant := range []string{"mr8", "mr8-disjoint", "mr8-interleaved"} {
		s := textureSet(m, images, Ref{Name: "weaves", Variant: variant, Draw: 1}, 100)
		checkSplit(t, s.Train, 200, 256)
		checkSplit(t, s.Test, 100, 256)
		var count [3]int
		for i := range s.Train.N {
			var sum float64
			for _, v := range s.Train.Row(i) {
				sum += float64(v)
			}
			if !(math.Abs(sum-1) <= 1e-5) {
				t.Fatalf("row %d adds up to %v", i, sum)
			}
			count[int(s.Train.Y[i])]++
		}
		if s.Classes != 3 || slices.Min(count[:]) < 40 {
			t.Errorf("%d classes, %v examples", s.Classes, count)
		}
		apart := strings.Contains(variant, "-disjoint") || strings.Contains(variant, "-interleaved")
		if got := s.Facts["test_overlap"]; apart != (got == 0) || apart != (s.Facts["test_pixels_seen"] == 0) {
			t.Errorf("%s: facts %v", variant, s.Facts)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(CacheDir, "textons", "*")); len(files) != 1 {
		t.Errorf("cached %v, want one file", files)
	}
}
