package data

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"polkrepro/data/texton"
	"polkrepro/internal/files"
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
func textureSet(m *manifestSet, images []*texton.Image, ref Ref, samples int) *Set {
	pre, disjoint := strings.CutSuffix(ref.Variant, DisjointSuffix)
	opt := texton.Options{
		Preprocessing: texton.Preprocessing(pre), Textons: textons, Samples: samples, Threads: runtime.GOMAXPROCS(0),
	}.Defaults()
	maps := textonMaps(images, opt, ref.Draw)
	train, test := drawPatches(maps, m.Train, m.Test, disjoint, ref.Draw)
	touched, covered := texton.Overlap(maps, train, test, textureSide)
	return &Set{
		Name:    m.Name,
		Classes: len(images),
		Train:   histograms(maps, train),
		Test:    histograms(maps, test),
		Facts:   map[string]float64{"test_overlap": touched, "test_pixels_seen": covered},
	}
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

// textonMaps returns the images' texton maps, from the cache if they are there
// and whole. A cache that can't be read or written only costs the time to
// compute them.
func textonMaps(images []*texton.Image, opt texton.Options, draw uint64) []*texton.Image {
	path := mapsPath(images, opt, draw)
	if maps := readMaps(path, images); maps != nil {
		return maps
	}
	maps := texton.Maps(images, opt, newSource(draw, streamTextons).pcg)
	_ = writeMaps(path, maps) // without a cache, they are computed again
	return maps
}

// mapsPath returns the cache file of the maps of images: its name is the hash
// of all that determines them.
func mapsPath(images []*texton.Image, opt texton.Options, draw uint64) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %d %d %d %d\n", texton.Version, opt.Preprocessing, opt.Textons, opt.Samples, opt.Iterations, draw)
	for _, m := range images {
		fmt.Fprintf(h, "%d×%d\n", m.Width, m.Height)
		h.Write(m.Pix)
	}
	return filepath.Join(filepath.FromSlash(CacheDir), "textons", hex.EncodeToString(h.Sum(nil))+".maps")
}

// readMaps reads the maps of images, or returns nil if they are not there and
// whole. A file holds the SHA-256 of the rest, then the maps' bytes.
func readMaps(path string, images []*texton.Image) []*texton.Image {
	size := sha256.Size
	for _, m := range images {
		size += len(m.Pix)
	}
	b, err := files.Read(path, int64(size))
	if err != nil || len(b) < sha256.Size {
		return nil
	}
	sum, pix := b[:sha256.Size], b[sha256.Size:]
	if want := sha256.Sum256(pix); !bytes.Equal(sum, want[:]) {
		return nil
	}
	var maps []*texton.Image
	for _, m := range images {
		if len(pix) < len(m.Pix) {
			return nil
		}
		maps = append(maps, &texton.Image{Width: m.Width, Height: m.Height, Pix: pix[:len(m.Pix)]})
		pix = pix[len(m.Pix):]
	}
	if len(pix) > 0 {
		return nil
	}
	return maps
}

// writeMaps writes a file that appears under its name only when it is whole.
func writeMaps(path string, maps []*texton.Image) error {
	var pix []byte
	for _, m := range maps {
		pix = append(pix, m.Pix...)
	}
	sum := sha256.Sum256(pix)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return files.Write(path, func(w io.Writer) error {
		_, err := w.Write(append(sum[:], pix...))
		return err
	})
}
