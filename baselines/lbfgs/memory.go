package lbfgs

import "slices"

// A memory holds the correction pairs of L-BFGS, with the inner product of
// the Hilbert space.
type memory struct {
	vectors
	size  int
	plain bool   // the elements are vectors without images, with the Euclidean inner product
	pairs []pair // oldest first
	spare pair   // memory for the next one, if any
}

type pair struct {
	s, y element // steps of the function and of the gradient
	rho  float64 // 1/⟨s, y⟩
}

// take returns a pair for the caller to fill in and push.
func (m *memory) take(length int) pair {
	p := m.spare
	m.spare = pair{}
	if p.s.w != nil {
		return p
	}
	if m.plain {
		return pair{s: element{w: make([]float64, length)}, y: element{w: make([]float64, length)}}
	}
	return pair{s: newElement(length), y: newElement(length)}
}

func (m *memory) inner(f, g element) float64 { return m.dot(f.w, m.image(g)) }

// image returns the vector whose dot product with a function's weights is the function's inner
// product with f.
func (m *memory) image(f element) []float64 {
	if m.plain {
		return f.w
	}
	return f.kw
}

// push adds a pair if its curvature ⟨s, y⟩ is positive; only rounding can make it negative or 0.
// If the memory is full, the oldest pair leaves for it.
func (m *memory) push(p pair) {
	sy := m.inner(p.s, p.y)
	if !(sy > 0) {
		m.spare = p
		return
	}
	p.rho = 1 / sy
	if len(m.pairs) == m.size {
		m.spare = m.pairs[0]
		m.pairs = append(m.pairs[:0], m.pairs[1:]...)
	}
	m.pairs = append(m.pairs, p)
}

// forget drops all pairs.
func (m *memory) forget() { m.pairs = m.pairs[:0] }

// direction writes −H·gradient to d, by the two loops of Nocedal 1980. All coefficients depend
// only on the weights of d, because an inner product takes the image of the other function. The
// image of d is the same combination of images.
func (m *memory) direction(d, gradient element) {
	m.scale(d, -1, gradient)
	// H is V_kᵀ…V_1ᵀ·H₀·V_1…V_k plus terms ρ·s·sᵀ, with V = 1 − ρ·y·sᵀ. From the
	// newest pair to the oldest, d becomes V_1…V_k·(−gradient); the coefficients are
	// kept for the terms.
	down := make([]float64, len(m.pairs))
	for i, p := range slices.Backward(m.pairs) {
		down[i] = p.rho * m.dot(d.w, m.image(p.s))
		m.add(d, -down[i], p.y)
	}
	// H₀ = ⟨s, y⟩/⟨y, y⟩ of the newest pair: the scale of the inverse Hessian along
	// the last step.
	if k := len(m.pairs); k > 0 {
		p := m.pairs[k-1]
		m.scale(d, 1/(p.rho*m.inner(p.y, p.y)), d)
	}
	// Back from the oldest to the newest: Vᵀ·d + a·s = d − (b − a)·s.
	for i, p := range m.pairs {
		m.add(d, down[i]-float64(p.rho*m.dot(d.w, m.image(p.y))), p.s)
	}
}
