package lbfgs

import (
	"errors"
	"fmt"
	"math"

	"polkrepro/internal/portable"
	"polkrepro/loss"
)

// A dualLoss is a loss ℓ with the functions that duality needs: a smooth lower bound ℓ_μ whose
// gradient is a dual point of ℓ itself, and the conjugate ℓ* of ℓ in its first argument.
//
// The dual points of both losses are u = p − e_y for p on the probability
// simplex.
type dualLoss interface {
	loss.Loss

	// smooth writes ∇ℓ_μ(f, y) to u and returns ℓ_μ(f, y).
	smooth(u, f []float64, y int, mu float64) float64

	// conjugate returns ℓ*(u, y).
	conjugate(u []float64, y int) float64

	// smoothing returns the first μ, or 0 if ℓ is smooth, so that ℓ_μ = ℓ.
	smoothing() float64
}

func newDualLoss(l loss.Loss) (dualLoss, error) {
	switch l.(type) {
	case nil:
		return nil, errors.New("must be set")
	case loss.MultiHinge:
		return hinge{}, nil
	case loss.MultiLogistic:
		return logistic{}, nil
	}
	return nil, fmt.Errorf("%s is not supported: must be %s or %s",
		l.Name(), loss.MultiHinge{}.Name(), loss.MultiLogistic{}.Name())
}

// logistic has ℓ*(p − e_y) = Σ_c p_c log p_c, and is its own ℓ_μ.
type logistic struct{ loss.MultiLogistic }

func (logistic) smoothing() float64 { return 0 }

func (l logistic) smooth(u, f []float64, y int, _ float64) float64 {
	return l.Gradient(u, f, float64(y))
}

func (logistic) conjugate(u []float64, y int) float64 {
	var sum float64
	for c, p := range u {
		if c == y {
			p++
		}
		if p > 0 {
			sum += float64(p * portable.Log(p))
		}
	}
	return sum
}

// hinge is ℓ(f, y) = max_p p·(f + 1 − e_y) − f_y over the simplex, so that
// ℓ*(p − e_y) = p_y − 1. Its ℓ_μ is the Moreau envelope
//
//	ℓ_μ(f, y) = min_z ℓ(z, y) + ‖z − f‖²/(2μ)
//	          = max_p p·(f + 1 − e_y) − f_y − (μ/2)‖p − e_y‖²
//
// with ℓ − μ ≤ ℓ_μ ≤ ℓ. It is zero with a zero gradient exactly where ℓ is.
type hinge struct{ loss.MultiHinge }

func (hinge) smoothing() float64 { return 1 }

func (hinge) smooth(u, f []float64, y int, mu float64) float64 {
	// The p that maximizes p·(f + 1 − e_y) − (μ/2)‖p − e_y‖² is the projection of
	// e_y + (f + 1 − e_y)/μ onto the simplex. Adding one number to all entries does not change
	// it. After subtracting f_y/μ, entry y is 1 and the others are (1 + f_c − f_y)/μ, in which
	// large scores cancel before the division.
	for c, v := range f {
		u[c] = (1 + (v - f[y])) / mu
	}
	u[y] = 1
	projectSimplex(u)
	var others, linear, square float64
	for c, p := range u {
		if c != y {
			others += p
			linear += float64(p * (1 + (f[c] - f[y])))
			square += float64(p * p)
		}
	}
	// p_y − 1 is computed as a sum, not a difference: exact where p_y is close to 1.
	u[y] = -others
	square += float64(others * others)
	return linear - float64(mu/2*square)
}

func (hinge) conjugate(u []float64, y int) float64 { return u[y] }

// projectSimplex replaces v by the nearest p ≥ 0 with Σ p = 1 (Michelot, "A
// finite algorithm for finding the projection of a point onto the canonical
// simplex of Rⁿ", 1986).
func projectSimplex(v []float64) {
	// Subtracting the largest entry preserves digits where entries are large.
	top := v[loss.Predict(v)]
	for c := range v {
		v[c] -= top
	}
	// The projection is max(0, v − τ) with Σ max(0, v − τ) = 1. Each round computes τ from the
	// entries above the previous τ. τ rises and fewer entries remain above it, so the loop ends.
	threshold, active := math.Inf(-1), len(v)+1
	for {
		sum, count := 0.0, 0
		for _, a := range v {
			if a > threshold {
				sum += a
				count++
			}
		}
		if count >= active { // equal: done; more: rounding error, and the loop would not end
			break
		}
		threshold, active = (sum-1)/float64(count), count
	}
	for c, a := range v {
		v[c] = max(0, a-threshold)
	}
}
