package bsgd

import (
	"math"

	"polkrepro/kernel"
)

// projection drops the element p of least norm and gives the others what
// approximates it best, Δα = K⁻¹ k_p α_p over the elements that stay. With u
// the p-th column of the inverse Gram matrix *including* p, Δα_j = −(u_j/u_p) α_p, and the degradation is ‖α_p‖²/u_p.
//
// The Gram matrix, kept as a factor, must not be singular. A sample whose
// squared distance from the dictionary's span is below dependence is
// therefore not added but represented by the dictionary at once, which is
// what a projection would have made of it.
//
// With spared 1 the newest element is never p: a sample that violates its margin
// enters, however little it weighs beside those held.
type projection struct {
	factor factor
	spared int64 // of the newest elements
	at     []int // dictionary index of each row of the factor
	pos    []int // and back

	x, k, row, q []float64 // buffers

	appends                              int
	dependent, probes, repairs, maxDrift float64
}

var _ maintainer = (*projection)(nil)

const (
	// dependence is the least Schur complement, relative to κ(x, x), of a
	// sample that enters. The factor would do with 1e-10, but weights grow
	// like one over the root of it, to 2e6 on 129 points in the plane, and
	// then float32 kernel values no longer give the scores (errors of 1.5
	// there, of 0.01 with 1e-6). Absorbing a sample changes f by at most
	// √(2·1e-6)·η in norm.
	dependence = 1e-6

	// The factor is probed every probeEvery appends: one of its rows, a
	// different one each time, is multiplied out and compared with fresh
	// kernel values. An error of repairAbove leaves the least pivot six
	// digits; updates alone cause 1e-14 at most.
	probeEvery  = 64
	repairAbove = 1e-12
)

func newProjection(budget int, spared int64) *projection {
	return &projection{factor: factor{room: budget + 1}, spared: spared}
}

func (p *projection) added(m *model) float64 {
	cost := p.enter(m, m.order()-1)
	if p.appends++; p.appends%probeEvery == 0 {
		cost += p.probe(m)
	}
	return cost
}

// enter takes element j, the elements before it having been taken, into the
// factor; if it depends on them, it hands its weight over and leaves the model.
func (p *projection) enter(m *model, j int) float64 {
	k := p.gather(p.kernelRow(m, j))
	pivot := p.factor.eliminate(k, m.self[j])
	if pivot > dependence*m.self[j] {
		p.factor.append(k, pivot)
		p.at, p.pos = append(p.at, j), append(p.pos, j)
		return 0
	}
	p.factor.back(k)
	cost := float64(m.norm[j] * max(pivot, 0))
	m.transfer(j, p.scatter(k, 1, m.order()))
	m.remove(j)
	p.dependent++
	return cost
}

func (p *projection) maintain(m *model) float64 {
	j := m.weakest(m.births - p.spared)
	i := p.pos[j]
	u := grow(p.k, p.factor.len())
	p.k = u
	p.factor.inverseColumn(i, u)
	// 1/u_p is the squared distance of κ(x_p, ·) from the span of the others, so this
	// is what Algorithm 1, line 4, adds to the squared error of removing p.
	cost := m.norm[j] / u[i]
	m.transfer(j, p.scatter(u, -1/u[i], m.order()))
	p.leave(m, j)
	return cost
}

// leave removes element j from the factor and from the model.
func (p *projection) leave(m *model, j int) {
	i, last := p.pos[j], m.order()-1
	p.factor.delete(i)
	copy(p.at[i:], p.at[i+1:])
	p.at = p.at[:last]
	for r := i; r < last; r++ {
		p.pos[p.at[r]] = r
	}
	// The model moves its last element to j.
	if j != last {
		p.pos[j] = p.pos[last]
		p.at[p.pos[j]] = j
	}
	p.pos = p.pos[:last]
	m.remove(j)
}

// kernelRow returns κ(d_j, d_i) over the dictionary, in float64.
func (p *projection) kernelRow(m *model, j int) []float64 {
	p.x = grow(p.x, m.dict.Dim())
	p.row = grow(p.row, m.order())
	kernel.Widen(p.x, m.dict.At(j))
	m.dict.Block64(m.kernel, 1, p.x, p.row, m.order(), m.threads)
	m.evals += int64(m.order())
	return p.row
}

// gather arranges values over the dictionary as the rows of the factor are.
func (p *projection) gather(row []float64) []float64 {
	p.k = grow(p.k, p.factor.len())
	for i, j := range p.at {
		p.k[i] = row[j]
	}
	return p.k
}

// scatter is gather's inverse, times s; elements outside the factor get 0.
func (p *projection) scatter(k []float64, s float64, order int) []float64 {
	p.q = grow(p.q, order)
	clear(p.q)
	for i, j := range p.at {
		p.q[j] = s * k[i]
	}
	return p.q
}

// probe measures the factor and repairs it if need be.
func (p *projection) probe(m *model) float64 {
	if p.factor.len() == 0 {
		return 0
	}
	p.probes++
	drift := p.drift(m, int(p.probes)%p.factor.len())
	p.maxDrift = max(p.maxDrift, drift)
	if drift <= repairAbove { // false for NaN
		return 0
	}
	return p.repair(m)
}

// drift returns how far row i of the factor's product is from the Gram
// matrix: max_j |(L D Lᵀ)_ij − K_ij| / √(K_ii K_jj).
func (p *projection) drift(m *model, i int) float64 {
	k := p.gather(p.kernelRow(m, p.at[i]))
	p.q = grow(p.q, len(k))
	p.factor.multiply(i, p.q)
	var worst float64
	for r, v := range p.q {
		scale := math.Sqrt(m.self[p.at[i]] * m.self[p.at[r]])
		worst = max(worst, math.Abs(v-k[r])/scale)
	}
	return worst
}

// repair factorizes the Gram matrix afresh.
func (p *projection) repair(m *model) float64 {
	p.repairs++
	p.factor.reset()
	p.at, p.pos = p.at[:0], p.pos[:0]
	var cost float64
	for j := 0; j < m.order(); {
		before := m.order()
		cost += p.enter(m, j)
		if m.order() == before {
			j++
		}
	}
	return cost
}

func (p *projection) health(h map[string]float64) {
	h["dependent"], h["probes"], h["repairs"], h["drift"] = p.dependent, p.probes, p.repairs, p.maxDrift
}
