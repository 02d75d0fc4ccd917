// Package merged computes the best replacement of two elements p and n of a kernel expansion by one
// point, for BSGD and the heuristics of package prune, which choose the pair themselves. For the
// Gaussian kernel and z = h x_p + (1−h) x_n, with κ = κ(x_p, x_n):
//
//	κ(x_p, z) = κ^((1−h)²),  κ(x_n, z) = κ^(h²)
//	α_z = α_p κ(x_p, z) + α_n κ(x_n, z)      the best weights for this z
//	D = ‖α_p‖² + ‖α_n‖² + 2κ α_p·α_n − ‖α_z‖²
//
// D/‖α_p‖² depends on three numbers only: r = ‖α_p‖/‖α_n‖, the cosine c
// between α_p and α_n, and κ. For two classes c = ±1.
//
// Search range of h: p is the element of least norm ‖α_p‖, so r ≤ 1 and
//
//	‖α_z(h)‖² − ‖α_z(1−h)‖² = (‖α_n‖² − ‖α_p‖²)(κ^(2h²) − κ^(2(1−h)²)) ≥ 0 for h ≤ ½,
//
// so the best h of [0, 1] lies in [0, ½], on the side of the stronger element. In that
// range ‖α_z‖² has a single maximum, at the one sign change of its derivative (checked
// by TestPointIsTheBest); for κ < e⁻² it has a second, lower maximum beyond ½.
// Points outside the segment, which can be better if c < 0, are not considered; the
// authors' public code (BudgetedSVM, bsgd.cpp) likewise sets h < 0 to 0.
package merged

import (
	"math"

	"polkrepro/internal/portable"
)

// Point returns the best h ∈ [0, ½], rounded to a multiple of 2⁻³². It bisects the derivative,
// because a golden section search would find only half the digits. The rounding makes h exactly ½ for
// elements of equal weight (every pair, under the schedule 1/(λt)). In that case z is usually halfway
// between two float32 numbers, and without the rounding the last bit of h would decide between them.
func Point(r, c, kappa float64) float64 {
	if kappa <= 0 {
		return 0
	}
	logKappa := portable.Log(kappa)
	if !improves(r, c, logKappa, 0) {
		return 0
	}
	lo, hi := 0.0, 0.5
	for range 40 {
		mid := (lo + hi) / 2
		if improves(r, c, logKappa, mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Round(0x1p32*lo) / 0x1p32
}

// improves reports whether ‖α_z‖² increases at h. With ρ = κ^(1−2h) its
// derivative is a positive multiple of r²(1−h)ρ² + rc(1−2h)ρ − h.
func improves(r, c, logKappa, h float64) bool {
	rho := portable.Exp(logKappa * (1 - 2*h))
	return r*rho*(float64(r*rho*(1-h))+float64(c*(1-2*h))) > h
}

// Loss returns D/‖α_p‖² at h (at h = 0 if κ = 0, because no other h is better),
// in a form without cancellation for r → 0:
//
//	(1 − κ^(2(1−h)²)) + (1 − κ^(2h²))/r² − (2c/r) κ (κ^(−2h(1−h)) − 1)
func Loss(r, c, kappa, h float64) float64 {
	if kappa <= 0 {
		return 1
	}
	return NewTerms(portable.Log(kappa), h).Loss(r, c)
}

// Terms holds the parts of D/‖α_p‖² that depend on κ and h.
type Terms struct{ self, other, cross float64 }

// NewTerms returns the terms for log κ and h.
func NewTerms(logKappa, h float64) Terms {
	return Terms{
		self:  -portable.Expm1(2 * logKappa * (1 - h) * (1 - h)),
		other: -portable.Expm1(2 * logKappa * h * h),
		cross: portable.Exp(logKappa) * portable.Expm1(-2*logKappa*h*(1-h)),
	}
}

// Loss returns D/‖α_p‖².
func (t Terms) Loss(r, c float64) float64 {
	if t.other == 0 { // h = 0, and r may be 0
		return t.self
	}
	return t.self + (t.other/r-float64(2*c*t.cross))/r
}

// Ratio returns r and c of an element p and an element n with squared weight norms normP ≤ normN
// and the inner product dot = α_p·α_n. It clamps both against rounding, to r ≤ 1 and −1 ≤ c ≤ 1.
func Ratio(normP, normN, dot float64) (r, c float64) {
	if normP == 0 {
		return 0, 0
	}
	c = dot / math.Sqrt(normP*normN)
	return min(1, math.Sqrt(normP/normN)), min(1, max(-1, c))
}
