package texton

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// speckled returns an image of w×h random grey levels low … low+levels−1.
func speckled(seed uint64, w, h, low, levels int) *Image {
	src := rand.NewPCG(seed, 7)
	m := &Image{Width: w, Height: h, Pix: make([]uint8, w*h)}
	for i := range m.Pix {
		m.Pix[i] = uint8(low + int(below(src, uint64(levels))))
	}
	return m
}

// vectors describes every pixel of an image.
func vectors(t *testing.T, m *Image, pre Preprocessing) (x []float64, dim int) {
	t.Helper()
	d := newDescriber(pre)
	x = make([]float64, len(m.Pix)*d.dim)
	p, w := newPlane(m), d.newScratch()
	for lo := 0; lo < len(m.Pix); lo += blockSize {
		var pixels []int
		for i := lo; i < min(lo+blockSize, len(m.Pix)); i++ {
			pixels = append(pixels, i)
		}
		d.describe(p, pixels, x[lo*d.dim:(lo+len(pixels))*d.dim], w)
	}
	return x, d.dim
}

// responses returns the responses of a bank at a pixel, computed by the definition.
func responses(m *Image, bank [][]float64, pixel int) []float64 {
	reflect := func(i, n int) int {
		if i < 0 {
			i = -i - 1
		}
		if i >= n {
			i = n - 1 - (i - n)
		}
		return i
	}
	var r []float64
	for _, w := range bank {
		var sum float64
		for q, tap := range w {
			y := reflect(pixel/m.Width+q/Support-24, m.Height)
			x := reflect(pixel%m.Width+q%Support-24, m.Width)
			sum += tap * float64(m.Pix[y*m.Width+x])
		}
		r = append(r, sum)
	}
	return r
}

var leungMalik, rfs = LeungMalik(), RFS()

// literal holds the preprocessings, computed by their definitions, in grey levels.
var literal = map[Preprocessing]func(m *Image, pixel int) []float64{
	Raw: func(m *Image, pixel int) []float64 { return responses(m, leungMalik, pixel) },
	ImageNormalised: func(m *Image, pixel int) []float64 {
		var mean, variance float64
		for _, v := range m.Pix {
			mean += float64(v) / float64(len(m.Pix))
		}
		for _, v := range m.Pix {
			variance += (float64(v) - mean) * (float64(v) - mean) / float64(len(m.Pix))
		}
		r := responses(m, leungMalik, pixel)
		for i := range r {
			r[i] /= math.Sqrt(variance)
		}
		return r
	},
	Contrast: func(m *Image, pixel int) []float64 {
		r := responses(m, leungMalik, pixel)
		var norm float64
		for i := range r {
			r[i] /= 255
			norm += r[i] * r[i]
		}
		norm = math.Sqrt(norm)
		for i := range r {
			r[i] *= math.Log(1+norm/0.03) / norm
		}
		return r
	},
	MR8: func(m *Image, pixel int) []float64 {
		r := responses(m, rfs, pixel)
		for i := range r[:18] {
			r[i] = math.Abs(r[i])
		}
		var out []float64
		for g := range 6 {
			out = append(out, slices.Max(r[6*g:6*g+6]))
		}
		return append(out, r[36], r[37])
	},
}

// TestDescribe compares vectors with the definitions, at corners, borders and interior
// pixels. A vector is rounded to multiples of 2⁻¹⁵, so it may differ by half of that.
func TestDescribe(t *testing.T) {
	m := speckled(1, 53, 49, 0, 256)
	for pre, want := range literal {
		x, dim := vectors(t, m, pre)
		for _, pixel := range []int{0, 52, 3, 53 * 20, 53*24 + 26, 53*30 + 7, 53*48 + 1, 53*49 - 1} {
			w := want(m, pixel)
			if len(w) != dim {
				t.Fatalf("%s: %d numbers a pixel, want %d", pre, dim, len(w))
			}
			for i, v := range x[pixel*dim : (pixel+1)*dim] {
				if !(math.Abs(v/quanta-w[i]) <= 0.5001/quanta) {
					t.Errorf("%s: pixel %d: number %d is %v, want %v", pre, pixel, i, v/quanta, w[i])
				}
				if v != math.Trunc(v) {
					t.Errorf("%s: %v is not an integer", pre, v)
				}
			}
		}
	}
}
