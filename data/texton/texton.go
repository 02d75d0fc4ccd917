// Package texton turns grey textures into texton histograms (Leung and Malik,
// "Representing and recognizing the visual appearance of materials using
// three-dimensional textons", IJCV 43, 2001), the features of the paper's
// brodatz data set.
//
// Every pixel is described by its responses to a bank of filters; k-means over
// a sample of these vectors gives a dictionary of textons; [Maps] labels every
// pixel with the nearest of them; and a patch is described by the [Histogram]
// of its labels.
//
// # Exactness
//
// The same images, options and source give the same maps on every platform and
// with any number of threads. Matrix products, distances and means sum integers of
// less than 2⁵³, which is exact in float64: neither the order of summation nor fused
// multiply-adds change the result. The integers come from rounding: filter taps are
// multiples of 2⁻³², responses and centres multiples of 2⁻¹⁵ grey level. All other
// operations are rounded one by one, as IEEE 754 prescribes.
package texton

import "math/rand/v2"

// Version changes whenever the results of [Maps] change.
const Version = "texton/1"

// An Image holds one byte per pixel, row-major: a grey level or, in a map of
// textons, a texton.
type Image struct {
	Width, Height int
	Pix           []uint8 // Width×Height
}

// Crop returns a copy of columns x0 … x1−1 and rows y0 … y1−1. It panics if they
// are not within the image.
func (m *Image) Crop(x0, y0, x1, y1 int) *Image {
	if x0 < 0 || y0 < 0 || x1 > m.Width || y1 > m.Height || x0 > x1 || y0 > y1 {
		panic("texton: crop outside of the image")
	}
	c := &Image{Width: x1 - x0, Height: y1 - y0}
	for y := y0; y < y1; y++ {
		c.Pix = append(c.Pix, m.Pix[y*m.Width+x0:y*m.Width+x1]...)
	}
	return c
}

// A Preprocessing says how the vectors for k-means are computed from grey levels.
type Preprocessing string

// The known preprocessings. The paper does not say which one it used.
const (
	// Raw uses the 48 responses of the Leung–Malik bank as they are.
	Raw Preprocessing = "raw"
	// ImageNormalised first gives every image mean 0 and variance 1.
	ImageNormalised Preprocessing = "image-normalised"
	// Contrast scales the responses F of a pixel to
	// F·log(1 + ‖F‖/0.03)/‖F‖, Weber's law (Malik, Belongie, Leung, Shi 2001),
	// for grey levels 0 … 1.
	Contrast Preprocessing = "contrast"
	// MR8 uses eight responses of the bank [RFS]: for each edge (by absolute
	// value) and each bar, the greatest response over six orientations, and the
	// responses of the Gaussian and the Laplacian (Varma and Zisserman 2005).
	MR8 Preprocessing = "mr8"
)

// MaxTextons is the greatest size of a dictionary: a map has one byte per pixel.
const MaxTextons = 256

// Options say how a dictionary is learned. All fields are required.
type Options struct {
	Preprocessing Preprocessing
	Textons       int // number of centres
	Samples       int // pixels sampled from each image for k-means
	Iterations    int // of Lloyd's algorithm, at most
	Threads       int // does not affect the result
}

// Maps learns a dictionary from the images and returns the texton of every pixel
// of each image, 0 … Textons−1. It draws the sampled pixels and the first centres
// with src. Beyond their borders, images are mirrored. Their sides must be 49 to
// 4096 pixels, so that sums over an image are exact. There must be no more textons
// than [MaxTextons] or samples.
func Maps(images []*Image, opt Options, src rand.Source) []*Image {
	d := newDescriber(opt.Preprocessing)
	planes := make([]*plane, len(images))
	for i, m := range images {
		planes[i] = newPlane(m)
	}
	sample := d.sample(planes, opt.Samples, src, opt.Threads)
	dict := learn(sample, d.dim, opt.Textons, opt.Iterations, src, opt.Threads)
	maps := make([]*Image, len(images))
	for i, m := range images {
		maps[i] = &Image{m.Width, m.Height, make([]uint8, len(m.Pix))}
		d.label(planes[i], dict, maps[i].Pix, opt.Threads)
	}
	return maps
}

// sample returns the vectors of n random pixels of each image, len(planes)·n×dim.
func (d *describer) sample(planes []*plane, n int, src rand.Source, threads int) []float64 {
	out := make([]float64, len(planes)*n*d.dim)
	pixels := make([]int, n)
	for i, p := range planes {
		for j := range pixels {
			pixels[j] = int(below(src, uint64(p.width*p.height)))
		}
		part := out[i*n*d.dim : (i+1)*n*d.dim]
		inBlocks(n, threads, func() func(lo, hi int) {
			w := d.newScratch()
			return func(lo, hi int) { d.describe(p, pixels[lo:hi], part[lo*d.dim:hi*d.dim], w) }
		})
	}
	return out
}

// label writes the texton of every pixel to dst.
func (d *describer) label(p *plane, dict *dictionary, dst []uint8, threads int) {
	inBlocks(len(dst), threads, func() func(lo, hi int) {
		w := d.newScratch()
		x := make([]float64, blockSize*d.dim)
		scores := make([]float64, blockSize*dict.size())
		pixels := make([]int, 0, blockSize)
		return func(lo, hi int) {
			pixels = pixels[:0]
			for i := lo; i < hi; i++ {
				pixels = append(pixels, i)
			}
			d.describe(p, pixels, x[:(hi-lo)*d.dim], w)
			dict.nearest(hi-lo, x, scores, dst[lo:hi])
		}
	})
}
