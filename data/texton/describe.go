package texton

import (
	"math"

	"polkrepro/data/internal/portable"
	"polkrepro/internal/gemm"
)

// quanta is the number of quantization steps of a response per grey level.
// Filters have mean 0 and L1 norm 1, so a response is at most 127.5 grey levels
// and a squared distance in 48 dimensions stays below 2⁵² steps².
const quanta = 1 << 15

// weber is the constant of Weber's law, 0.03 of the range of grey levels.
const weber = 0.03 * 255

// A plane is an image extended by half a window beyond its borders, by mirroring.
type plane struct {
	width, height int
	stride        int
	pix           []float64 // grey levels, (height+2·half)×stride
	deviation     float64   // standard deviation of the grey levels, at least 1
}

func newPlane(m *Image) *plane {
	p := &plane{width: m.Width, height: m.Height, stride: m.Width + 2*half}
	p.pix = make([]float64, 0, p.stride*(m.Height+2*half))
	for y := -half; y < m.Height+half; y++ {
		row := m.Pix[mirror(y, m.Height)*m.Width:]
		for x := -half; x < m.Width+half; x++ {
			p.pix = append(p.pix, float64(row[mirror(x, m.Width)]))
		}
	}
	var sum, squares uint64
	for _, v := range m.Pix {
		sum += uint64(v)
		squares += uint64(v) * uint64(v)
	}
	n := uint64(len(m.Pix))
	p.deviation = max(1, math.Sqrt(float64(n*squares-sum*sum))/float64(n))
	return p
}

// mirror maps an index i that is at most n outside 0 … n−1 into this range, by
// reflection at the border. The border itself is repeated.
func mirror(i, n int) int {
	switch {
	case i < 0:
		return -1 - i
	case i >= n:
		return 2*n - 1 - i
	}
	return i
}

// window copies the window around a pixel to dst.
func (p *plane) window(pixel int, dst []float64) {
	from := pixel/p.width*p.stride + pixel%p.width
	for r := range Support {
		copy(dst[r*Support:(r+1)*Support], p.pix[from+r*p.stride:])
	}
}

// A describer computes the vectors that k-means runs on: dim integers per pixel,
// in units of 1/quanta.
type describer struct {
	bank   *gemm.Panels[float64]
	dim    int
	finish func(p *plane, responses, dst []float64) // of one pixel
}

func newDescriber(pre Preprocessing) *describer {
	filters := LeungMalik
	var finish func(p *plane, r, dst []float64)
	switch pre {
	case Raw:
		finish = func(_ *plane, r, dst []float64) { quantise(dst, r, 1) }
	case ImageNormalised:
		// The filters have mean 0, so the image's mean has no effect.
		finish = func(p *plane, r, dst []float64) { quantise(dst, r, p.deviation) }
	case Contrast:
		finish = func(_ *plane, r, dst []float64) { quantise(dst, r, contrast(r)) }
	case MR8:
		filters = RFS
		finish = func(_ *plane, r, dst []float64) {
			var m [8]float64
			strongest(r, &m)
			quantise(dst, m[:], 1)
		}
	default:
		panic("texton: unknown preprocessing " + string(pre))
	}
	d := &describer{bank: gemm.NewPanels[float64](taps), finish: finish}
	for _, w := range filters() {
		d.bank.Append(w)
	}
	d.dim = d.bank.Len()
	if pre == MR8 {
		d.dim = 8
	}
	return d
}

// quantise writes r/scale in units of 1/quanta.
func quantise(dst, r []float64, scale float64) {
	for i, v := range r {
		dst[i] = math.RoundToEven(v / scale * quanta)
	}
}

// contrast returns the number by which Weber's law divides the responses r.
func contrast(r []float64) float64 {
	var squares float64
	for _, v := range r {
		squares += float64(v * v)
	}
	if squares == 0 {
		return 1
	}
	norm := math.Sqrt(squares)
	return norm / portable.Log(1+norm/weber)
}

// strongest reduces the responses of RFS to the eight of MR8.
func strongest(r []float64, m *[8]float64) {
	for g := range 6 {
		m[g] = math.Inf(-1)
		for _, v := range r[g*len(orientations) : (g+1)*len(orientations)] {
			if g < 3 {
				// An edge seen from the other side has the other sign.
				v = math.Abs(v)
			}
			m[g] = max(m[g], v)
		}
	}
	m[6], m[7] = r[len(r)-2], r[len(r)-1]
}

// scratch is the working memory of one goroutine.
type scratch struct{ windows, responses []float64 }

func (d *describer) newScratch() *scratch {
	return &scratch{make([]float64, blockSize*taps), make([]float64, blockSize*d.bank.Len())}
}

// describe writes the vectors of at most blockSize pixels to dst.
func (d *describer) describe(p *plane, pixels []int, dst []float64, w *scratch) {
	for i, pixel := range pixels {
		p.window(pixel, w.windows[i*taps:(i+1)*taps])
	}
	filters := d.bank.Len()
	d.bank.MulABT(gemm.MatrixOf(len(pixels), taps, w.windows), gemm.MatrixOf(len(pixels), filters, w.responses), 1)
	for i := range pixels {
		d.finish(p, w.responses[i*filters:(i+1)*filters], dst[i*d.dim:(i+1)*d.dim])
	}
}
