package data

import (
	"fmt"
	"runtime"
	"strings"

	"polkrepro/data/texton"
)

// The shape of the features made of textures (paper, section "Data Sets").
const (
	textureSide = 24 // of a patch
	textons     = texton.MaxTextons
)

// Streams of a texture draw's generator.
const (
	streamTextons uint64 = 1<<32 + iota
	streamPatches
	streamWeave // and on, one a texture
)

// DisjointSuffix ends the names of those variants of brodatz and weaves whose
// training and test patches share no pixel.
const DisjointSuffix = "-disjoint"

// textureVariants returns the variants of data sets of textures, the default
// first: each preprocessing of [texton.Preprocessing], with patches drawn from
// the whole of each image, as the paper has it, and disjoint ones.
func textureVariants() []string {
	var names []string
	for _, suffix := range []string{"", DisjointSuffix} {
		for _, p := range []texton.Preprocessing{texton.Raw, texton.ImageNormalised, texton.Contrast, texton.MR8} {
			names = append(names, string(p)+suffix)
		}
	}
	return names
}

// firstDraw is the default draw of textures.
func firstDraw() uint64 { return 1 }

// textureSet makes the texton histograms of patches of images, all of one size,
// the class of a patch being the index of its image. The draw seeds the
// dictionary and the choice of patches; the preprocessing has no part in the
// latter. Facts["test_overlap"] is the share of test patches that have a pixel
// in common with a training patch, Facts["test_pixels_seen"] the share of their
// pixels that lie in one.
func textureSet(m *manifestSet, images []*texton.Image, ref Ref, samples int) (*Set, error) {
	pre, disjoint := strings.CutSuffix(ref.Variant, DisjointSuffix)
	opt := texton.Options{
		Preprocessing: texton.Preprocessing(pre), Textons: textons, Samples: samples, Threads: runtime.GOMAXPROCS(0),
	}.Defaults()
	maps, err := textonMaps(images, opt, ref.Draw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	train, test := drawPatches(maps, m.Train, m.Test, disjoint, ref.Draw)
	touched, covered := texton.Overlap(maps, train, test, textureSide)
	return &Set{
		Name:    m.Name,
		Classes: len(images),
		Train:   histograms(maps, train),
		Test:    histograms(maps, test),
		Facts:   map[string]float64{"test_overlap": touched, "test_pixels_seen": covered},
	}, nil
}

// drawPatches draws different patches, evenly over all images and positions.
// Disjoint ones come from the left and the right of each image, in proportion
// to their numbers, with as many columns between them as a filter is wide, so
// that no grey level enters the histograms of both.
func drawPatches(maps []*texton.Image, nTrain, nTest int, disjoint bool, draw uint64) (train, test []texton.Patch) {
	w, h := maps[0].Width, maps[0].Height
	left := texton.Region{X1: w, Y1: h}
	right := left
	if disjoint {
		left.X1 = (w - texton.Support) * nTrain / (nTrain + nTest)
		right.X0 = left.X1 + texton.Support
	}
	src := newSource(draw, streamPatches).pcg
	taken := make(map[texton.Patch]bool)
	train = texton.Draw(src, nTrain, textureSide, len(maps), left, taken)
	test = texton.Draw(src, nTest, textureSide, len(maps), right, taken)
	return train, test
}

// histograms describes patches by their texton histograms.
func histograms(maps []*texton.Image, patches []texton.Patch) *Split {
	s := newSplit(len(patches), textons)
	for i, p := range patches {
		texton.Histogram(maps, p, textureSide, s.Row(i))
		s.Y[i] = float64(p.Image)
	}
	return s
}
