package data

import (
	"crypto/sha256"
	"encoding/hex"
	"image"

	"polkrepro/data/texton"
)

// weavesSide is the side of a generated texture, in pixels.
const weavesSide = 160

// weavesSamples is the number of pixels sampled from each texture for k-means.
const weavesSamples = 4000

// A weave computes the grey level, about 0 … 255, of pixel (x, y).
type weave func(x, y int) int

// weaves lists the generators of the thirteen textures, in the order of the classes.
// They compute only with integers and their square roots, so the same seed gives the
// same bytes on every platform.
var weaves = [...]func(source) weave{
	plainWeave, twill, basketWeave, herringbone, stripes, checks, grid,
	blobs, pebbles, cracks, straw, grain, clouds,
}

func init() {
	register("weaves", code{
		variants: textureVariants(),
		draw:     firstDraw,
		load:     loadWeaves,
		sum:      func(d manifestDraw) string { return sumImages(weaveImages(d.Draw)) },
		pictures: func(*manifestSet, Finder) (out []*image.Gray, err error) {
			for _, t := range weaveImages(1) {
				out = append(out, greyPicture(t))
			}
			return out, nil
		},
	})
}

// loadWeaves generates the textures of a draw and makes their texton
// histograms.
func loadWeaves(m *manifestSet, ref Ref, _ Finder) (*Set, error) {
	images := weaveImages(ref.Draw)
	set := textureSet(m, images, ref, weavesSamples)
	set.Sums = map[string]string{m.Name: sumImages(images)}
	return set, nil
}

// sumImages returns, in hexadecimal, the SHA-256 of the images' grey levels.
func sumImages(images []*texton.Image) string {
	h := sha256.New()
	for _, m := range images {
		h.Write(m.Pix)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// weaveImages generates the textures of a draw.
func weaveImages(draw uint64) []*texton.Image {
	var images []*texton.Image
	for i, newWeave := range weaves {
		images = append(images, paint(newWeave, newSource(draw, streamWeave+uint64(i))))
	}
	return images
}

// paint renders a texture like a scan: unevenly lit and with noise in every pixel.
func paint(newWeave func(source) weave, src source) *texton.Image {
	const light, speckle = 48, 40
	at := newWeave(src)
	lighting := newNoise(src, weavesSide/2, weavesSide/2)
	m := &texton.Image{Width: weavesSide, Height: weavesSide}
	for y := range weavesSide {
		for x := range weavesSide {
			v := 48 + at(x, y)*5/8
			v += (lighting.at(x, y) - 128) * light / 128
			v += src.intn(2*speckle+1) - speckle
			m.Pix = append(m.Pix, uint8(min(max(v, 0), 255)))
		}
	}
	return m
}

// noise is a lattice of random heights 0 … 255, with cells of w×h pixels and smooth
// interpolation between the heights.
type noise struct {
	w, h    int
	columns int
	heights []int
}

func newNoise(src source, w, h int) *noise {
	n := &noise{w: w, h: h, columns: weavesSide/w + 2}
	n.heights = make([]int, n.columns*(weavesSide/h+2))
	for i := range n.heights {
		n.heights[i] = src.intn(256)
	}
	return n
}

// at returns the height at a pixel, 0 … 255. Coordinates wrap around at the image's
// borders.
func (n *noise) at(x, y int) int {
	x, y = mod(x, weavesSide), mod(y, weavesSide)
	row := n.heights[y/n.h*n.columns+x/n.w:]
	below := row[n.columns:]
	s := smooth(x%n.w, n.w)
	top := row[0]*(256-s) + row[1]*s
	bottom := below[0]*(256-s) + below[1]*s
	t := smooth(y%n.h, n.h)
	return (top*(256-t) + bottom*t) >> 16
}

// smooth returns 256·(3t²−2t³) for t = i/n.
func smooth(i, n int) int { return i * i * (3*n - 2*i) * 256 / (n * n * n) }

// mod returns a modulo n, 0 … n−1.
func mod(a, n int) int { return (a%n + n) % n }

// A warp displaces pixels smoothly.
type warp struct {
	dx, dy *noise
	reach  int
}

// newWarp returns a warp by at most reach pixels that varies over distances of cell pixels.
func newWarp(src source, cell, reach int) warp {
	return warp{newNoise(src, cell, cell), newNoise(src, cell, cell), reach}
}

// apply returns a weave whose pixels the warp has moved.
func (w warp) apply(at weave) weave {
	return func(x, y int) int {
		return at(x+(w.dx.at(x, y)-128)*w.reach/128, y+(w.dy.at(x, y)-128)*w.reach/128)
	}
}
