package lbfgs

import "polkrepro/internal/gemm"

// A memory holds the correction pairs of L-BFGS, with the inner product of
// the Hilbert space.
type memory struct {
	vectors
	size  int
	plain bool   // the elements are vectors without images, with the Euclidean inner product
	pairs []pair // oldest first
	spare []pair
}

type pair struct {
	s, y element // steps of the function and of the gradient
	rho  float64 // 1/⟨s, y⟩
}

// take returns a pair to be filled in and pushed: the oldest one's memory once
// there are enough.
func (m *memory) take(length int) pair {
	if len(m.pairs) == m.size {
		m.spare = append(m.spare, m.pairs[0])
		m.pairs = append(m.pairs[:0], m.pairs[1:]...)
	}
	if k := len(m.spare); k > 0 {
		p := m.spare[k-1]
		m.spare = m.spare[:k-1]
		return p
	}
	if m.plain {
		return pair{s: element{w: make([]float64, length)}, y: element{w: make([]float64, length)}}
	}
	return pair{s: newElement(length), y: newElement(length)}
}

func (m *memory) inner(f, g element) float64 { return m.dot(f.w, m.image(g)) }

// image returns the vector of which the product with a function's weights is its inner
// product with f.
func (m *memory) image(f element) []float64 {
	if m.plain {
		return f.w
	}
	return f.kw
}

// push adds a pair if its curvature is positive, which rounding alone can
// deny it.
func (m *memory) push(p pair) {
	sy := m.inner(p.s, p.y)
	if !(sy > 0) {
		m.spare = append(m.spare, p)
		return
	}
	p.rho = 1 / sy
	m.pairs = append(m.pairs, p)
}

// forget drops all pairs.
func (m *memory) forget() {
	m.spare = append(m.spare, m.pairs...)
	m.pairs = m.pairs[:0]
}

// direction writes −H·gradient to d, by the two loops of Nocedal 1980.
//
// The weights of d decide all coefficients, as an inner product takes the image of the
// other function. The image of d is then the same combination of images.
func (m *memory) direction(d, gradient element) {
	k := len(m.pairs)
	down, up, scale := make([]float64, k), make([]float64, k), 1.0
	m.combine(d.w, -1, gradient.w, 0, gradient.w)
	// H is V_kᵀ…V_1ᵀ·H₀·V_1…V_k plus terms ρ·s·sᵀ, with V = 1 − ρ·y·sᵀ. From the
	// newest pair to the oldest, d becomes V_1…V_k·(−gradient); the coefficients are
	// kept for the terms.
	for i := k - 1; i >= 0; i-- {
		p := m.pairs[i]
		if i == k-1 {
			down[i] = p.rho * m.dot(d.w, m.image(p.s))
		}
		if i == 0 {
			m.axpy(-down[0], p.y.w, d.w)
			break
		}
		older := m.pairs[i-1]
		down[i-1] = older.rho * m.axpyDot(-down[i], p.y.w, d.w, m.image(older.s))
	}
	// H₀ = ⟨s, y⟩/⟨y, y⟩ of the newest pair: the scale of the inverse Hessian along
	// the last step.
	if k > 0 {
		p := m.pairs[k-1]
		scale = 1 / (p.rho * m.inner(p.y, p.y))
		m.combine(d.w, scale, d.w, 0, d.w)
	}
	// Back from the oldest to the newest: Vᵀ·d + a·s = d − (b − a)·s.
	for i, p := range m.pairs {
		if i == 0 {
			up[0] = down[0] - float64(p.rho*m.dot(d.w, m.image(p.y)))
		}
		if i == k-1 {
			m.axpy(up[i], p.s.w, d.w)
			break
		}
		newer := m.pairs[i+1]
		up[i+1] = down[i+1] - float64(newer.rho*m.axpyDot(up[i], p.s.w, d.w, m.image(newer.y)))
	}
	m.chunks(len(d.kw), func(lo, hi int) {
		kw := d.kw[lo:hi]
		for i, g := range gradient.kw[lo:hi] {
			kw[i] = -g
		}
		for i := k - 1; i >= 0; i-- {
			gemm.Axpy(-down[i], m.pairs[i].y.kw[lo:hi], kw)
		}
		for i := range kw {
			kw[i] *= scale
		}
		for i, p := range m.pairs {
			gemm.Axpy(up[i], p.s.kw[lo:hi], kw)
		}
	})
}
