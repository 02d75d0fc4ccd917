package texton

import (
	"math"

	"polkrepro/data/internal/portable"
)

// Support is the side of a filter's window, in pixels.
const Support = 49

const (
	half = Support / 2
	taps = Support * Support
)

// tapUnit is the unit that filter taps are rounded to. The taps of a filter sum to
// exactly zero. Rounding changes a tap by at most 2⁻³³, except the central tap,
// which absorbs the sum of the rounding errors.
const tapUnit = 0x1p-32

// orientations are the cosine and sine of 0°, 30°, … 150°.
var orientations = [6][2]float64{
	{1, 0}, {root3 / 2, 0.5}, {0.5, root3 / 2}, {0, 1}, {-0.5, root3 / 2}, {-root3 / 2, 0.5},
}

const root3 = 1.73205080756887729352744634150587236694

// LeungMalik returns the Leung–Malik bank of 48 filters, each 49×49, row-major,
// of mean 0 and L1 norm 1: 18 first and 18 second derivatives of Gaussians
// elongated 3:1, at the scales √2, 2, 2√2 and six orientations each, orientation
// fastest; then, for each of the scales √2, 2, 2√2, 4, a Gaussian and Laplacians
// of Gaussians at that scale and at three times it. The scheme, normalisation
// included, is that of makeLMfilters.m of the Visual Geometry Group, Oxford.
func LeungMalik() [][]float64 {
	bank := oriented(math.Sqrt2, 2, 2*math.Sqrt2)
	for _, scale := range []float64{math.Sqrt2, 2, 2 * math.Sqrt2, 4} {
		bank = append(bank, gaussian(scale), laplacian(scale), laplacian(3*scale))
	}
	return bank
}

// RFS returns the "root filter set" of 38 filters, each 49×49, row-major, of
// mean 0 and L1 norm 1: 18 first and 18 second derivatives of Gaussians
// elongated 3:1, at the scales 1, 2, 4 and six orientations each, orientation
// fastest; a Gaussian and a Laplacian of Gaussian at scale 10 (Varma and
// Zisserman 2005).
func RFS() [][]float64 {
	return append(oriented(1, 2, 4), gaussian(10), laplacian(10))
}

// oriented returns the first and then the second derivatives, taken across the
// axis, of Gaussians with standard deviation scale across and 3·scale along the
// axis: for each scale in all orientations.
func oriented(scales ...float64) (bank [][]float64) {
	for order := 1; order <= 2; order++ {
		for _, scale := range scales {
			for _, o := range orientations {
				bank = append(bank, filter(func(x, y float64) float64 {
					along := float64(o[0]*x) - float64(o[1]*y)
					across := float64(o[1]*x) + float64(o[0]*y)
					g := float64(bell(along, 3*scale) * bell(across, scale))
					if order == 1 {
						return -float64(g * across)
					}
					return float64(g * (float64(across*across) - float64(scale*scale)))
				}))
			}
		}
	}
	return bank
}

func gaussian(scale float64) []float64 {
	return filter(func(x, y float64) float64 { return float64(bell(x, scale) * bell(y, scale)) })
}

func laplacian(scale float64) []float64 {
	return filter(func(x, y float64) float64 {
		g := float64(bell(x, scale) * bell(y, scale))
		return float64(g * (float64(x*x) + float64(y*y) - float64(2*float64(scale*scale))))
	})
}

// bell is a Gaussian of height 1.
func bell(x, sigma float64) float64 {
	return portable.Exp(-float64(x*x) / float64(2*float64(sigma*sigma)))
}

// filter samples f on the window, x to the right and y upwards, and
// normalises it.
func filter(f func(x, y float64) float64) []float64 {
	w := make([]float64, 0, taps)
	for y := half; y >= -half; y-- {
		for x := -half; x <= half; x++ {
			w = append(w, f(float64(x), float64(y)))
		}
	}
	normalise(w)
	round(w)
	return w
}

// normalise gives a filter mean 0 and L1 norm 1.
func normalise(w []float64) {
	var sum, abs float64
	for _, v := range w {
		sum += v
	}
	mean := sum / float64(len(w))
	for i := range w {
		w[i] -= mean
		abs += math.Abs(w[i])
	}
	for i := range w {
		w[i] /= abs
	}
}

// round makes the taps multiples of tapUnit that sum to zero.
func round(w []float64) {
	var sum float64
	for i, v := range w {
		w[i] = math.RoundToEven(v/tapUnit) * tapUnit
		sum += w[i]
	}
	w[len(w)/2] -= sum
}
