package data

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/data/texton"
)

// TestLoadBrodatzErrors: missing scans, and other ones.
func TestLoadBrodatzErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(EnvDir, "")
	ref := Ref{Name: "brodatz"}
	if _, err := Load(ref, Finder{Dir: "d"}); !errors.Is(err, ErrNotAvailable) || !strings.Contains(err.Error(), "data/cache/brodatz") {
		t.Errorf("nothing there: %v", err)
	}
	files, other := must(lookup("brodatz")).Files, []byte("another picture")
	for _, file := range files {
		writeFile(t, filepath.Join("d", "brodatz", file.Name), other)
	}
	_, err := Load(ref, Finder{Dir: "d"})
	for _, want := range []string{"1.1.01.tiff", entry("", other, false).SHA256, files[0].SHA256, replaceIt} { // both sums, and the remedy
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("other bytes: %v, want %q", err, want)
		}
	}
	if err := os.Remove(filepath.Join("d", "brodatz", "1.1.02.tiff")); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(ref, Finder{Dir: "d"}); !errors.Is(err, ErrNotAvailable) || !strings.Contains(err.Error(), "missing 1.1.02.tiff") {
		t.Errorf("one missing: %v", err)
	}
}

// brodatzImages reads the real scans, cropped.
func brodatzImages(t *testing.T) []*texton.Image {
	t.Helper()
	m := must(lookup("brodatz"))
	images, sums, err := readBrodatz(m, needReal(t, "brodatz"))
	if err != nil {
		t.Fatal(err)
	}
	if len(images) != 13 || len(sums) != 13 {
		t.Fatalf("%d images, %d sums", len(images), len(sums))
	}
	return images
}

// TestBrodatzTextons holds the texton histograms of a small part of each scan
// to committed bytes, which are the same on every platform.
func TestBrodatzTextons(t *testing.T) {
	const want = "ec52af5e827cc215d2e7ebeb934bcd3ec629a621770f93bbf45102bcee99c7c8"
	var images []*texton.Image
	for _, m := range brodatzImages(t) {
		images = append(images, m.Crop(100, 100, 152, 150))
	}
	opt := texton.Options{Preprocessing: texton.Raw, Textons: textons, Samples: 200, Iterations: iterations, Threads: 2}
	maps := texton.Maps(images, opt, rand.NewPCG(1, 2))
	train, test := drawPatches(maps, 300, 100, whole, 1)
	if got := SumSplits(histograms(maps, train), histograms(maps, test)); got != want {
		t.Errorf("SHA-256 %s, committed %s", got, want)
	}
}
