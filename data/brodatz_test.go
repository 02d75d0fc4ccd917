package data

import (
	"math/rand/v2"
	"testing"

	"polkrepro/data/texton"
)

// TestBrodatzTextons compares the texton histograms of a small part of each scan with a
// committed SHA-256. They have the same bytes on every platform.
func TestBrodatzTextons(t *testing.T) {
	const want = "ec52af5e827cc215d2e7ebeb934bcd3ec629a621770f93bbf45102bcee99c7c8"
	images, sums, err := readBrodatz(must(lookup("brodatz")), needReal(t, "brodatz"))
	if err != nil || len(images) != 13 || len(sums) != 13 {
		t.Fatalf("%d images, %d sums, %v", len(images), len(sums), err)
	}
	for i, m := range images {
		images[i] = m.Crop(100, 100, 152, 150)
	}
	opt := texton.Options{Preprocessing: texton.Raw, Textons: textons, Samples: 200, Iterations: iterations, Threads: 2}
	maps := texton.Maps(images, opt, rand.NewPCG(1, 2))
	train, test := drawPatches(maps, 300, 100, whole, 1)
	if got := SumSplits(histograms(maps, train), histograms(maps, test)); got != want {
		t.Errorf("SHA-256 %s, committed %s", got, want)
	}
}
