package data

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"polkrepro/data/texton"
	"polkrepro/internal/files"
)

// The shape of the features made of textures (paper, section "Data Sets").
const (
	textureSide = 24 // side of a patch, in pixels
	textons     = texton.MaxTextons
	iterations  = 50 // of Lloyd's algorithm, at most
)

// Streams of a texture draw's generator.
const (
	streamTextons uint64 = 1<<32 + iota
	streamPatches
	streamWeave // the first of the streams of weaves, one per texture
)

// layouts lists the layouts of patches in the images of brodatz and weaves, the paper's
// first, with the suffixes of the variants' names.
var layouts = []struct {
	suffix string
	layout
}{{"", whole}, {"-disjoint", leftAndRight}, {"-interleaved", inTurns}}

// textureVariants returns the variants of data sets of textures, the default
// first: each preprocessing of [texton.Preprocessing] with each layout.
func textureVariants() []string {
	var names []string
	for _, l := range layouts {
		for _, p := range []texton.Preprocessing{texton.Raw, texton.ImageNormalised, texton.Contrast, texton.MR8} {
			names = append(names, string(p)+l.suffix)
		}
	}
	return names
}

// firstDraw is the default draw of textures.
func firstDraw() uint64 { return 1 }

// textureSet computes texton histograms of patches of images, which must all have
// the same size. The class of a patch is the index of its image. The draw seeds
// the dictionary and the choice of patches; the choice of patches does not depend
// on the preprocessing. Facts["test_overlap"] is the share of test patches that
// share a pixel with a training patch, Facts["test_pixels_seen"] the share of the
// test patches' pixels that lie in a training patch.
func textureSet(m *manifestSet, images []*texton.Image, ref Ref, samples int) *Set {
	pre, places := ref.Variant, layout(whole)
	for _, l := range layouts[1:] {
		if before, found := strings.CutSuffix(pre, l.suffix); found {
			pre, places = before, l.layout
		}
	}
	opt := texton.Options{
		Preprocessing: texton.Preprocessing(pre), Textons: textons, Samples: samples, Iterations: iterations, Threads: runtime.GOMAXPROCS(0),
	}
	maps := textonMaps(images, opt, ref.Draw)
	train, test := drawPatches(maps, m.Train, m.Test, places, ref.Draw)
	touched, covered := texton.Overlap(maps, train, test, textureSide)
	return &Set{
		Name:    m.Name,
		Classes: len(images),
		Train:   histograms(maps, train),
		Test:    histograms(maps, test),
		Facts:   map[string]float64{"test_overlap": touched, "test_pixels_seen": covered},
	}
}

// A layout returns the regions of a w×h image from which training and test patches are
// drawn; the share train/all of patches is for training. Except in whole, training and
// test regions are as far apart as a filter is wide, so that no grey level enters the
// histograms of both.
type layout func(w, h, train, all int) (forTraining, forTest []texton.Region)

// whole draws training and test patches from the whole image.
func whole(w, h, _, _ int) (forTraining, forTest []texton.Region) {
	all := []texton.Region{{X1: w, Y1: h}}
	return all, all
}

// leftAndRight draws training patches from the left of the image and test patches from
// the right.
func leftAndRight(w, h, train, all int) (forTraining, forTest []texton.Region) {
	edge := (w - texton.Support) * train / all
	return []texton.Region{{X1: edge, Y1: h}}, []texton.Region{{X0: edge + texton.Support, X1: w, Y1: h}}
}

// inTurns draws training and test patches from alternating stripes in two rows. The second
// row swaps training and test stripes, so that both see all of the image. There are as
// many stripes as possible with room for two test patches side by side in each test stripe.
func inTurns(w, h, train, all int) (forTraining, forTest []texton.Region) {
	pairs, usable := 1, func(pairs int) int { return w - (2*pairs-1)*texton.Support }
	for usable(pairs+1)*(all-train)/all >= 2*textureSide*(pairs+1) {
		pairs++
	}
	wide := usable(pairs) * train / all / pairs
	narrow := usable(pairs)/pairs - wide
	high := (h - texton.Support) / 2
	for row := range 2 {
		x, y := 0, row*(high+texton.Support)
		for stripe := range 2 * pairs {
			to, width := &forTraining, wide
			if (stripe+row)%2 == 1 {
				to, width = &forTest, narrow
			}
			*to = append(*to, texton.Region{X0: x, Y0: y, X1: x + width, Y1: y + high})
			x += width + texton.Support
		}
	}
	return forTraining, forTest
}

// drawPatches draws distinct patches, uniformly over all images and the positions that
// the layout allows.
func drawPatches(maps []*texton.Image, nTrain, nTest int, l layout, draw uint64) (train, test []texton.Patch) {
	forTraining, forTest := l(maps[0].Width, maps[0].Height, nTrain, nTrain+nTest)
	src := newSource(draw, streamPatches).pcg
	taken := make(map[texton.Patch]bool)
	train = texton.Draw(src, nTrain, textureSide, len(maps), forTraining, taken)
	test = texton.Draw(src, nTest, textureSide, len(maps), forTest, taken)
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

// textonMaps returns the images' texton maps, from the cache if it holds them intact.
// If the cache can't be read or written, the only cost is the time to compute the maps.
func textonMaps(images []*texton.Image, opt texton.Options, draw uint64) []*texton.Image {
	path := mapsPath(images, opt, draw)
	if maps := readMaps(path, images); maps != nil {
		return maps
	}
	maps := texton.Maps(images, opt, newSource(draw, streamTextons).pcg)
	_ = writeMaps(path, maps) // on failure, the next call computes the maps again
	return maps
}

// mapsPath returns the path of the cache file of the images' maps. Its name is the hash
// of everything that determines the maps.
func mapsPath(images []*texton.Image, opt texton.Options, draw uint64) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %d %d %d %d\n", texton.Version, opt.Preprocessing, opt.Textons, opt.Samples, opt.Iterations, draw)
	for _, m := range images {
		fmt.Fprintf(h, "%d×%d\n", m.Width, m.Height)
		h.Write(m.Pix)
	}
	return filepath.Join(filepath.FromSlash(CacheDir), "textons", hex.EncodeToString(h.Sum(nil))+".maps")
}

// readMaps reads the maps of images from a cache file, or returns nil if the file is
// missing or corrupt. The file holds the SHA-256 of the maps' bytes, then these bytes.
func readMaps(path string, images []*texton.Image) []*texton.Image {
	size := sha256.Size
	for _, m := range images {
		size += len(m.Pix)
	}
	b, err := files.Read(path, int64(size))
	if err != nil || len(b) != size {
		return nil
	}
	sum, pix := b[:sha256.Size], b[sha256.Size:]
	if want := sha256.Sum256(pix); !bytes.Equal(sum, want[:]) {
		return nil
	}
	var maps []*texton.Image
	for _, m := range images {
		maps = append(maps, &texton.Image{Width: m.Width, Height: m.Height, Pix: pix[:len(m.Pix)]})
		pix = pix[len(m.Pix):]
	}
	return maps
}

// writeMaps writes a cache file, which gets its name only when it is complete.
func writeMaps(path string, maps []*texton.Image) error {
	var pix []byte
	for _, m := range maps {
		pix = append(pix, m.Pix...)
	}
	sum := sha256.Sum256(pix)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return files.WriteBytes(path, append(sum[:], pix...))
}
