package kernel

import (
	"math"

	"polkrepro/internal/portable"
)

// unit32 and unit64 are the unit roundoffs of float32 and float64.
const (
	unit32 = 1.0 / (1 << 24)
	unit64 = 1.0 / (1 << 53)
)

// ScoreTolerance bounds the error of the scores of a [Scorer], in units of
// Σ_j |w_j| κ(x, d_j).
const ScoreTolerance = 1.0 / 256

// If the squared distance ‖x‖² + ‖y‖² − 2xᵀy of a Gaussian kernel value comes from a matrix product,
// the error of the value is that of its exponent. Rounding gives the exponent an error of a few
// units of ‖x‖² + ‖y‖², which cancellation keeps when the distance is small compared with the norms.
// If the error exceeds the following bounds, the value is computed another way (reach32, reach64).
const (
	// product32 is half of ScoreTolerance. Any 784 pixels in [0, 1] with c = 4, and
	// any histograms of 256 bins with c = 0.1, stay below it.
	product32 = 1.0 / (1 << 9)

	// product64 is a worst-case bound that keeps errors near the least value that the
	// projection can distinguish from zero (polk's 1e-12).
	product64 = 1.0 / (1 << 36)

	// relative64 is the bound for values so small that their absolute error stays
	// below product64 anyway.
	relative64 = 1.0 / (1 << 10)
)

// chain is the number of products that the matrix product adds in sequence before it restarts the sum.
const chain = 384

// sumError bounds the error of a sum of n products, as the matrix product computes it
// with the given unit roundoff, relative to the sum of their magnitudes.
func sumError(unit float64, n int) float64 {
	roundings := float64(min(n, chain) + n/chain + 1)
	return roundings * unit / (1 - float64(roundings*unit))
}

// nowhere is the reach if products can't be used for any vectors.
const nowhere = -1

// reach32 returns the largest ‖x‖² + ‖y‖² of vectors of length dim for which
// Block32 takes κ(x, y) from a float32 product, with an error of at most product32 in
// the exponent. Beyond reach32, Block32 uses the value of Block64.
func (g Gaussian) reach32(dim int) float64 {
	// Underflow costs the distance (dim+4)·2⁻¹⁴⁹ and the exponent 2⁻²² at the first
	// bound. Both bounds keep γ a normal float32.
	gamma := g.Gamma()
	if !(gamma*float64(dim+4) <= 0x1p127) || gamma < 0x1p-126 {
		return nowhere
	}
	return min(product32/(gamma*(5*unit32+sumError(unit32, dim))), 0x1p120)
}

// reach64 returns the largest ‖x‖² + ‖y‖² of vectors of length dim for which
// Block64 takes κ(x, y) from a float64 product, in which nothing overflows or
// underflows. Beyond reach64, Block64 sums (x_i − y_i)² unless the value is small.
func (g Gaussian) reach64(dim int) float64 {
	gamma := g.Gamma()
	if math.IsInf(gamma, 1) {
		return nowhere
	}
	return product64 / (gamma * (5*unit64 + sumError(unit64, dim)))
}

// reach32 returns the largest ‖x‖² + ‖y‖² of vectors of length dim for which
// Block32 takes κ(x, y) from a float32 product, which does not overflow and has an
// error of at most product32·(‖x‖‖y‖ + b)^c. Beyond reach32, Block32 uses the value of Block64.
func (k Polynomial) reach32(dim int) float64 {
	degree := float64(k.Degree)
	if degree*(4*unit32+sumError(unit32, dim)) > product32 {
		return nowhere
	}
	return 2 * (portable.Exp2(126/degree) - k.Offset) // xᵀy is at most half of ‖x‖² + ‖y‖²
}
