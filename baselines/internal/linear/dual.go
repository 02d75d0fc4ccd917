package linear

import (
	"slices"

	"polkrepro/internal/gemm"
)

// A dualPoint is a feasible point of the dual, the gradients u_i, by the sums that its
// bound needs; p_i = u_i + e_{y_i}.
type dualPoint struct {
	gradient []float64 // C×P, (1/N) Σ u_i φ_iᵀ
	value    float64   // at most (1/N) Σ h(p_i)
	entropy  float64   // at most (1/N) Σ_i −Σ_c p_ic log p_ic
}

// bound returns the lower bound of min P.
func (d *dualPoint) bound(lambda float64) float64 {
	return d.value - gemm.Dot(d.gradient, d.gradient)/(2*lambda)
}

// join moves d to the point between itself and e where the bound is largest. A d without
// gradient becomes e.
func (d *dualPoint) join(e dualPoint, lambda float64) {
	if d.gradient == nil {
		*d = e
		d.gradient = slices.Clone(e.gradient)
		return
	}
	// The dual's domain is convex, and h and the entropy are concave: at (1−t)·d + t·e they
	// are at least what they are at the ends, in these proportions. With s the difference of
	// the gradients the bound is value + t·(e.value − value) − ‖gradient + t·s‖²/(2λ), a
	// parabola in t.
	s := slices.Clone(e.gradient)
	gemm.Axpy(-1, d.gradient, s)
	square := gemm.Dot(s, s)
	if square == 0 {
		return
	}
	rise := e.value - d.value
	t := (float64(lambda*rise) - gemm.Dot(d.gradient, s)) / square
	t = max(0, min(t, 1))
	gemm.Axpy(t, s, d.gradient)
	d.value += float64(t * rise)
	d.entropy += float64(t * (e.entropy - d.entropy))
}
