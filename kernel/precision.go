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

// The error of a Gaussian kernel value whose squared distance ‖x‖² + ‖y‖² − 2xᵀy
// comes from a matrix product is that of its exponent. Rounding puts an error of
// some units of ‖x‖² + ‖y‖² there, and cancellation keeps it while the distance
// becomes small beside the norms. Where these bounds on it are exceeded, the value
// is computed another way (reach32, reach64).
const (
	// product32 is half of ScoreTolerance. 784 pixels of [0, 1] at c = 4 and
	// histograms of 256 bins at c = 0.1 stay below it whatever their values.
	product32 = 1.0 / (1 << 9)

	// product64 keeps errors, of which this is the worst case, near to what
	// the projection can tell from zero (polk's 1e-12).
	product64 = 1.0 / (1 << 36)

	// relative64 is the bound for values so small that their absolute error is
	// below product64 all the same.
	relative64 = 1.0 / (1 << 10)
)

// chain is the number of products that the matrix product adds up one after
// the other before it restarts.
const chain = 384

// sumError bounds the relative error of a sum of n products, as the matrix product
// forms it with a unit roundoff, by the sum of their magnitudes.
func sumError(unit float64, n int) float64 {
	roundings := float64(min(n, chain) + n/chain + 1)
	return roundings * unit / (1 - float64(roundings*unit))
}

// nowhere is the reach of products that can't be used for any vectors.
const nowhere = -1

// reach32 returns the largest ‖x‖² + ‖y‖² of vectors of length dim for which
// Block32 takes κ(x, y) from a float32 product: the exponent's error is at most
// product32 there. Beyond, it takes the value of Block64.
func (g Gaussian) reach32(dim int) float64 {
	// What underflows costs the distance (dim+4)·2⁻¹⁴⁹, the exponent 2⁻²² at the
	// first bound. Both bounds keep γ among the normal float32 numbers.
	gamma := g.Gamma()
	if !(gamma*float64(dim+4) <= 0x1p127) || gamma < 0x1p-126 {
		return nowhere
	}
	return min(product32/(gamma*(5*unit32+sumError(unit32, dim))), 0x1p120)
}

// reach64 returns the largest ‖x‖² + ‖y‖² of vectors of length dim for which
// Block64 takes κ(x, y) from a float64 product, in which nothing overflows or
// underflows. Beyond, it sums (x_i − y_i)² unless the value is small.
func (g Gaussian) reach64(dim int) float64 {
	gamma := g.Gamma()
	if math.IsInf(gamma, 1) {
		return nowhere
	}
	return product64 / (gamma * (5*unit64 + sumError(unit64, dim)))
}

// reach32 returns the largest ‖x‖² + ‖y‖² of vectors of length dim for which
// Block32 takes κ(x, y) from a float32 product: there it does not overflow, and
// errs by at most product32·(‖x‖‖y‖ + b)^c. Beyond, it takes the value of Block64.
func (k Polynomial) reach32(dim int) float64 {
	degree := float64(k.Degree)
	if degree*(4*unit32+sumError(unit32, dim)) > product32 {
		return nowhere
	}
	return 2 * (portable.Exp2(126/degree) - k.Offset) // xᵀy is at most half of it
}

// error32 bounds |κ₃₂ − κ| / κ of Block32 for vectors of length dim and norm
// at most norm.
func (g Gaussian) error32(dim int, norm float64) float64 {
	// ‖x‖² + ‖d‖² − 2xᵀd: two rounded norms and two additions of numbers up
	// to 4‖·‖², twice the error of the product. The exponential is good to
	// 3e-7, and its float32 argument, γ rounded, to 2u of itself, which is
	// at most 104 before κ₃₂ is 0: there the absolute error is below 1e-37.
	distance := norm * norm * (10*unit32 + 2*sumError(unit32, dim))
	return portable.Expm1(float64(g.Gamma()*distance) + 104*2*unit32 + 3e-7)
}

// ScoreError bounds the error of scores Σ_j w_j κ(x, d_j) that were computed in
// float32 from m elements by Block32 and a matrix product, in units of
// Σ_j |w_j| κ(x, d_j), for vectors of length dim and norm at most norm. It is
// +Inf where nothing can be said or where Block32 may have to compute in float64,
// so that float32 saves nothing.
func ScoreError(k Kernel, m, dim int, norm float64) float64 {
	g, ok := k.(Gaussian)
	if !ok || !(2*norm*norm <= g.reach32(dim)) {
		return math.Inf(1)
	}
	return g.error32(dim, norm) + sumError(unit32, m) + 2*unit32
}
