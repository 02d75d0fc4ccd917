package bsgd

import (
	"math"
	"slices"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
)

// A model is f_c = s Σ_j v_cj κ(d_j, ·). The common factor s makes the shrinking of every step
// O(1). Weights are stored class by class, so that scores and projections are operations on long
// vectors.
type model struct {
	kernel  kernel.Kernel
	dict    *kernel.Points
	classes int
	stride  int       // row length of v: at least B+1, the model order before maintenance
	v       []float64 // classes×stride
	norm    []float64 // ‖v_j‖² = Σ_c v_cj²
	self    []float64 // κ(d_j, d_j)
	born    []int64   // birth number of the element: breaks ties
	births  int64
	scale   float64 // s > 0
	evals   int64   // kernel evaluations
	window  window
	threads int // goroutines of the matrix products
}

// leastScale is the factor s below which s is multiplied into the weights: far from underflow,
// and reached only once in 28 million steps at ηλ = 1e-6.
const leastScale = 0x1p-40

func newModel(k kernel.Kernel, dim, classes, budget int) *model {
	stride := (budget + 1 + 7) &^ 7 // rows begin at a cache line
	return &model{
		kernel: k, dict: kernel.NewPoints(dim), classes: classes, stride: stride,
		v: make([]float64, classes*stride), norm: make([]float64, 0, stride),
		self: make([]float64, 0, stride), born: make([]int64, 0, stride),
		scale: 1, window: window{stride: stride}, threads: 1,
	}
}

func (m *model) order() int { return m.dict.Len() }

// weights returns v_c over the dictionary, without copying.
func (m *model) weights(c int) []float64 {
	return m.v[c*m.stride : c*m.stride+m.order()]
}

// append adds a dictionary element with zero weights. The caller sets the weights and then calls
// reweigh.
func (m *model) append(x []float32) {
	m.dict.Append(x)
	last := m.order() - 1
	for c := range m.classes {
		m.v[c*m.stride+last] = 0
	}
	m.norm = append(m.norm, 0)
	m.self = append(m.self, m.kernel.Self(x))
	m.born = append(m.born, m.births)
	m.births++
	m.evals += m.window.appended(m, x)
}

// reweigh recomputes ‖v_j‖².
func (m *model) reweigh(j int) {
	var s float64
	for c := range m.classes {
		w := m.v[c*m.stride+j]
		s += float64(w * w)
	}
	m.norm[j] = s
}

// reweighAll recomputes every ‖v_j‖².
func (m *model) reweighAll() {
	clear(m.norm)
	for c := range m.classes {
		for j, w := range m.weights(c) {
			m.norm[j] += float64(w * w)
		}
	}
}

// remove deletes element j; the last element takes its place.
func (m *model) remove(j int) {
	last := m.order() - 1
	for c := range m.classes {
		m.v[c*m.stride+j] = m.v[c*m.stride+last]
	}
	m.norm[j], m.self[j], m.born[j] = m.norm[last], m.self[last], m.born[last]
	m.norm, m.self, m.born = m.norm[:last], m.self[:last], m.born[:last]
	m.window.removed(j, last)
	m.dict.Remove(j)
}

// transfer adds v_p·q_j to the weights of every element j except p. It sets q_p to 0.
func (m *model) transfer(p int, q []float64) {
	q[p] = 0
	for c := range m.classes {
		w := m.weights(c)
		gemm.Axpy(w[p], q, w)
	}
	m.reweighAll()
}

// tie is the relative difference below which two norms count as equal. Under the schedule 1/(λt)
// all untouched elements have *exactly* the same weight in exact arithmetic; without a tolerance,
// rounding would decide the choice.
const tie = 1e-10

// weakest returns the element with the smallest ‖v_j‖² κ(d_j, d_j) among the elements born before
// the given birth. Of tied elements it returns the oldest.
func (m *model) weakest(before int64) int {
	least := math.Inf(1)
	for j, n := range m.norm {
		if m.born[j] < before {
			least = min(least, n*m.self[j])
		}
	}
	least += float64(tie * least)
	best := -1
	for j, n := range m.norm {
		if m.born[j] < before && n*m.self[j] <= least && (best < 0 || m.born[j] < m.born[best]) {
			best = j
		}
	}
	return best
}

// shrink multiplies f by factor ≥ 0.
func (m *model) shrink(factor float64) {
	m.scale *= factor
	if m.scale >= leastScale {
		return
	}
	for c := range m.classes {
		for j, w := range m.weights(c) {
			m.weights(c)[j] = m.scale * w
		}
	}
	m.reweighAll()
	m.scale = 1
}

// vector copies the weights of element j to a, of length C.
func (m *model) vector(j int, a []float64) {
	for c := range a {
		a[c] = m.v[c*m.stride+j]
	}
}

// grow returns b with length n, contents undefined; it allocates ahead.
func grow[T any](b []T, n int) []T { return slices.Grow(b[:0], n)[:n] }
