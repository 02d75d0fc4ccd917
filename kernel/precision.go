package kernel

import "math"

// unit32 is the unit roundoff of float32.
const unit32 = 1.0 / (1 << 24)

// chain is the number of products that the matrix product adds up one after
// the other before it starts anew.
const chain = 384

// sumError bounds the relative error of a float32 sum of n products, as the
// matrix product forms it, by the sum of their magnitudes.
func sumError(n int) float64 {
	roundings := float64(min(n, chain) + n/chain + 1)
	return roundings * unit32 / (1 - roundings*unit32)
}

// error32 bounds |κ₃₂ − κ| / κ of Block32 for vectors of length dim and norm
// at most norm.
func (g Gaussian) error32(dim int, norm float64) float64 {
	// ‖x‖² + ‖d‖² − 2xᵀd: two rounded norms and two additions of numbers up
	// to 4‖·‖², twice the error of the product. The exponential is good to
	// 3e-7, and its float32 argument, γ rounded, to 2u of itself, which is
	// at most 104 before κ₃₂ is 0: there the absolute error is below 1e-37.
	distance := norm * norm * (10*unit32 + 2*sumError(dim))
	return math.Expm1(g.Gamma()*distance + 104*2*unit32 + 3e-7)
}

// ScoreError bounds the error of scores Σ_j w_j κ(x, d_j) that were computed in
// float32 from m elements by Block32 and a matrix product, in units of
// Σ_j |w_j| κ(x, d_j), for vectors of length dim and norm at most norm. It is
// +Inf where nothing can be said.
func ScoreError(k Kernel, m, dim int, norm float64) float64 {
	g, ok := k.(Gaussian)
	if !ok {
		return math.Inf(1)
	}
	return g.error32(dim, norm) + sumError(m) + 2*unit32
}
