package lbfgs

import "slices"

// A bound is a dual point ū, C×N, and the lower bound that it proves: no function has an
// objective below
//
//	D(ū) = −(1/N) Σ_i ℓ*(ū_i) − (λ/2)‖f_ū‖²,  f_ū = −1/(λN) Σ_i ū_i κ(x_i, ·)
//
// The dual points of the iterates scatter about the best dual point, in directions that hardly
// change the objective but cost 1/λ in the bound. So ū is a running mean: it moves towards each
// iterate's point by the step that is best for the bound.
type bound struct {
	*problem
	u         []float64
	conjugate float64 // mean of ℓ*(ū_i), or an upper bound of it
	norm      float64 // (λ/2)‖f_ū‖²
}

// set makes a copy of u the bound's dual point.
func (b *bound) set(u element) {
	b.u = slices.Clone(u.w)
	b.conjugate, b.norm = b.exactSums(nil, u.w).conjugate/b.total, b.energy(u.w, u)
}

// value returns D(ū), or a lower bound of it.
func (b *bound) value() float64 { return -b.conjugate - b.norm }

// energy returns (λ/2)⟨f_u, f_v⟩.
func (b *bound) energy(u []float64, v element) float64 {
	n := b.total
	return b.dot(u, v.kw) / (2 * b.lambda * n * n)
}

// join moves ū towards the dual point of x. Between the two points, ℓ* is at most its linear
// interpolation, so that D is at least a parabola. The step goes to the parabola's vertex, or to
// x's point if that is nearer.
func (b *bound) join(x *iterate) {
	norm, cross := b.energy(x.dual.w, x.dual), b.energy(b.u, x.dual)
	slope := b.conjugate - x.conjugate + 2*(b.norm-cross)
	curvature := 2 * (b.norm - 2*cross + norm)
	if !(slope > 0) {
		return
	}
	t := 1.0
	if curvature > slope {
		t = slope / curvature
	}
	b.combine(b.u, 1-t, b.u, t, x.dual.w)
	b.conjugate = float64((1-t)*b.conjugate) + float64(t*x.conjugate)
	b.norm = float64((1-t)*(1-t)*b.norm) + float64(2*t*(1-t)*cross) + float64(t*t*norm)
}
