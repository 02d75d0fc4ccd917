package texton

import "math/rand/v2"

// A Patch is a square of pixels of an image.
type Patch struct {
	Image int // index of the image
	X, Y  int // upper left pixel
}

// A Region is a part of every image: columns X0 … X1−1 and rows Y0 … Y1−1.
type Region struct{ X0, Y0, X1, Y1 int }

// places returns the numbers of columns and rows in which a patch of side×side pixels
// can begin.
func (r Region) places(side int) (w, h int) {
	return max(0, r.X1-r.X0-side+1), max(0, r.Y1-r.Y0-side+1)
}

// patch returns the i-th patch of an image, counted over all regions.
func patch(image, i, side int, regions []Region) Patch {
	for _, r := range regions {
		w, h := r.places(side)
		if i < w*h {
			return Patch{image, r.X0 + i%w, r.Y0 + i/w}
		}
		i -= w * h
	}
	panic("texton: no such patch")
}

// Draw draws n distinct patches of side×side pixels, uniformly from those that lie in one
// of the regions of the images 0 … images−1 and are not in taken. It adds them to taken.
// The regions must not overlap. Draw panics if there are not enough patches.
func Draw(src rand.Source, n, side, images int, regions []Region, taken map[Patch]bool) []Patch {
	each := 0
	for _, r := range regions {
		w, h := r.places(side)
		each += w * h
	}
	if images*each < n+len(taken) {
		panic("texton: not enough patches to draw from")
	}
	patches := make([]Patch, 0, n)
	for len(patches) < n {
		i := int(below(src, uint64(images*each)))
		p := patch(i/each, i%each, side, regions)
		if !taken[p] {
			taken[p] = true
			patches = append(patches, p)
		}
	}
	return patches
}

// Histogram writes the share of each texton, 0 … len(dst)−1, among the
// side×side labels of a patch to dst. The shares sum to 1 to within rounding. It
// panics if the patch is not within its map, or if a label is not below len(dst).
func Histogram(maps []*Image, p Patch, side int, dst []float32) {
	m := maps[p.Image]
	clear(dst)
	for y := p.Y; y < p.Y+side; y++ {
		for _, label := range m.Pix[y*m.Width+p.X : y*m.Width+p.X+side] {
			dst[label]++
		}
	}
	for i := range dst {
		dst[i] /= float32(side * side)
	}
}

// Overlap measures how much test patches overlap training patches. touched is the
// share of test patches that share a pixel with a training patch; covered is the
// share of the test patches' pixels that lie in a training patch. Only the sizes of
// images matter.
func Overlap(images []*Image, train, test []Patch, side int) (touched, covered float64) {
	masks := make([][]bool, len(images))
	for i, m := range images {
		masks[i] = make([]bool, m.Width*m.Height)
	}
	row := func(p Patch, y int) []bool {
		from := (p.Y+y)*images[p.Image].Width + p.X
		return masks[p.Image][from : from+side]
	}
	for _, p := range train {
		for y := range side {
			for x := range row(p, y) {
				row(p, y)[x] = true
			}
		}
	}
	patches, pixels := 0, 0
	for _, p := range test {
		before := pixels
		for y := range side {
			for _, in := range row(p, y) {
				if in {
					pixels++
				}
			}
		}
		if pixels > before {
			patches++
		}
	}
	n := float64(max(1, len(test)))
	return float64(patches) / n, float64(pixels) / (n * float64(side*side))
}
