package bsgd

import (
	"math"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
)

// projection drops the element p of least norm and adds to the other weights the best
// approximation of p, Δα = K⁻¹ k_p α_p over the elements that stay. With u the p-th column of the
// inverse Gram matrix *including* p, Δα_j = −(u_j/u_p) α_p, and the degradation is ‖α_p‖²/u_p.
//
// The Gram matrix, kept as a factor, must not be singular. So a sample whose squared distance
// from the dictionary's span is below dependence is not added. The dictionary represents it at
// once, with the same result as a projection.
//
// With spared = 1 the newest element is never p: a sample that violates its margin enters,
// however small its weight is compared with the older elements.
type projection struct {
	factor factor
	spared int64 // number of newest elements that maintain never drops
	at     []int // dictionary index of each row of the factor
	pos    []int // row of the factor of each dictionary index

	// At the start of a block, the samples that are expected to enter become waiting rows of the
	// factor. values holds their kernel values over the dictionary at that time, fresh the
	// elements that entered since.
	waiting []int     // for each sample of the block, its row of values, or −1
	values  []float64 // row stride factor.room
	origin  []int     // for each element, its column of values, or −1−i for fresh's i-th
	fresh   *kernel.Points

	x, k, row, q []float64 // buffers

	appends                              int
	dependent, probes, repairs, maxDrift float64
}

var _ maintainer = (*projection)(nil)

const (
	// dependence is the smallest Schur complement, relative to κ(x, x), of a sample that enters.
	// The factor itself would allow 1e-10. But weights grow like 1/√dependence. With 1e-10 they
	// reach 2e6 on 129 points in the plane, and float32 kernel values then no longer give
	// accurate scores (errors of 1.5, against 0.01 with 1e-6). Absorbing a sample changes f by at
	// most √(2·1e-6)·η in norm.
	dependence = 1e-6

	// The factor is probed every probeEvery appends: one of its rows, a different one each time,
	// is multiplied out and compared with newly computed kernel values. An error of repairAbove
	// leaves six correct digits in the smallest pivot; updates alone cause errors of 1e-14 at
	// most.
	probeEvery  = 64
	repairAbove = 1e-12
)

func newProjection(budget int, spared int64) *projection {
	return &projection{factor: newFactor(budget + 1), spared: spared}
}

// expect computes the kernel values of the samples that are likely to enter, and their solutions
// with the head of the factor. It handles these samples together, because one at a time both
// computations would be bound by reading memory: the packed dictionary and L₁₁.
func (p *projection) expect(m *model, likely []bool, x []float32) {
	f, dim, order := &p.factor, m.dict.Dim(), m.order()
	f.settle() // invalidates the previous block's waiting rows, which await replaces below
	if p.fresh == nil {
		p.fresh = kernel.NewPoints(dim)
	}
	p.fresh.Reset()
	p.origin = p.origin[:0]
	for j := range order {
		p.origin = append(p.origin, j)
	}
	p.x = grow(p.x, len(likely)*dim)
	p.waiting = p.waiting[:0]
	n := 0
	for i, l := range likely {
		if !l || order == 0 {
			p.waiting = append(p.waiting, -1)
			continue
		}
		p.waiting = append(p.waiting, n)
		kernel.Widen(p.x[n*dim:], x[i*dim:(i+1)*dim])
		n++
	}
	p.values = grow(p.values, n*f.room)
	m.dict.Block64(m.kernel, gemm.MatrixOf(n, dim, p.x), gemm.Strided(n, order, f.room, p.values), m.threads)
	m.evals += int64(n) * int64(order)
	f.await(n)
	for i := range n {
		k, row := p.values[i*f.room:], f.waitingRow(i)
		for r := range row {
			row[r] = k[p.at[r]]
		}
	}
	f.solve()
}

func (p *projection) added(m *model) float64 {
	last := m.order() - 1
	k, pivot := p.eliminate(m, last)
	p.origin = append(p.origin, -1-p.fresh.Len())
	p.fresh.Append(m.dict.At(last))
	cost := p.enter(m, last, k, pivot)
	p.appends++
	if p.appends%probeEvery == 0 {
		cost += p.probe(m)
	}
	return cost
}

// eliminate returns the row and the pivot of the model's last element, j, the
// window's current sample.
func (p *projection) eliminate(m *model, j int) (row []float64, pivot float64) {
	i := -1
	if at := m.window.next - 1; at < len(p.waiting) {
		i = p.waiting[at]
	}
	if i < 0 {
		k := p.gather(p.kernelRow(m, j, m.dict))
		return k, p.factor.eliminate(k, m.self[j])
	}
	k := p.tailValues(m, i, j)
	return k, p.factor.eliminateWaiting(i, k, m.self[j])
}

// tailValues returns the kernel values between element j, the i-th waiting sample, and
// the tail, in the factor's order. Values for the head are not set.
func (p *projection) tailValues(m *model, i, j int) []float64 {
	values, fresh := p.values[i*p.factor.room:], p.kernelRow(m, j, p.fresh)
	p.k = grow(p.k, p.factor.len())
	for r := p.factor.head; r < len(p.k); r++ {
		if at := p.origin[p.at[r]]; at >= 0 {
			p.k[r] = values[at]
		} else {
			p.k[r] = fresh[-1-at]
		}
	}
	return p.k
}

// enter adds element j to the factor, which already holds all elements before j. k is the
// element's row, pivot its pivot. If element j depends on the others, its weight goes to them and
// it leaves the model. enter returns the degradation.
func (p *projection) enter(m *model, j int, k []float64, pivot float64) float64 {
	if pivot > dependence*m.self[j] {
		p.factor.append(k, pivot)
		p.at, p.pos = append(p.at, j), append(p.pos, j)
		return 0
	}
	p.factor.represent(k)
	cost := float64(m.norm[j] * max(pivot, 0))
	m.transfer(j, p.scatter(k, 1, m.order()))
	p.forget(m, j)
	p.dependent++
	return cost
}

func (p *projection) maintain(m *model) float64 {
	j := m.weakest(m.births - p.spared)
	i := p.pos[j]
	u := grow(p.k, p.factor.len())
	p.k = u
	p.factor.inverseColumn(i, u)
	// 1/u_p is the squared distance of κ(x_p, ·) from the span of the others, so cost is the
	// minimal squared error without p: the γ_p² of POLK's Algorithm 1 (KOMP), line 4, before any
	// other removal.
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
	p.forget(m, j)
}

// forget removes element j from the model.
func (p *projection) forget(m *model, j int) {
	last := m.order() - 1
	p.origin[j] = p.origin[last]
	p.origin = p.origin[:last]
	m.remove(j)
}

// kernelRow returns κ between element j and points, in float64.
func (p *projection) kernelRow(m *model, j int, points *kernel.Points) []float64 {
	n := points.Len()
	p.x, p.row = grow(p.x, m.dict.Dim()), grow(p.row, n)
	kernel.Widen(p.x, m.dict.At(j))
	points.Block64(m.kernel, gemm.RowOf(p.x), gemm.RowOf(p.row), m.threads)
	m.evals += int64(n)
	return p.row
}

// gather reorders values over the dictionary into the order of the factor's rows.
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

// probe measures the error of the factor and repairs the factor if the error is too large. It
// returns the degradation.
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

// drift returns the error of row i of the factor's product, relative to the Gram matrix:
// max_j |(L D Lᵀ)_ij − K_ij| / √(K_ii K_jj). It also multiplies row i of K by the newest column u
// of the inverse, which is computed from the tail's coefficients, and includes the error of K_i·u
// relative to Σ_j |K_ij u_j|.
func (p *projection) drift(m *model, i int) float64 {
	k := p.gather(p.kernelRow(m, p.at[i], m.dict))
	p.q = grow(p.q, len(k))
	p.factor.multiply(i, p.q)
	var worst float64
	for r, v := range p.q {
		scale := math.Sqrt(m.self[p.at[i]] * m.self[p.at[r]])
		worst = max(worst, math.Abs(v-k[r])/scale)
	}
	last := len(k) - 1
	p.factor.inverseColumn(last, p.q)
	var sum, size float64
	for r, u := range p.q {
		sum += float64(k[r] * u)
		size += math.Abs(float64(k[r] * u))
	}
	if i == last {
		sum--
	}
	if size > 0 { // not if κ is 0 between all elements
		worst = max(worst, math.Abs(sum)/size)
	}
	return worst
}

// repair recomputes the factorization of the Gram matrix. It returns the degradation.
func (p *projection) repair(m *model) float64 {
	p.repairs++
	p.factor.reset()
	p.at, p.pos, p.waiting = p.at[:0], p.pos[:0], p.waiting[:0]
	var cost float64
	for j := 0; j < m.order(); {
		before := m.order()
		k := p.gather(p.kernelRow(m, j, m.dict))
		cost += p.enter(m, j, k, p.factor.eliminate(k, m.self[j]))
		p.factor.settle()
		if m.order() == before {
			j++
		}
	}
	return cost
}

func (p *projection) health(h map[string]float64) {
	h["dependent"], h["probes"], h["repairs"], h["drift"] = p.dependent, p.probes, p.repairs, p.maxDrift
}
