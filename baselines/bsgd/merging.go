package bsgd

import (
	"math"

	"polkrepro/internal/gemm"
	"polkrepro/internal/merged"
)

// merging replaces the element p of least norm and a partner n by one point z
// on the segment between them, with n, z and the weights of z chosen for the
// least degradation (see package merged).
type merging struct {
	table *mergeTable

	z      []float32
	k      []float32 // κ(x_p, d_j)
	dots   []float64 // α_p·α_j
	ap, an []float64
	ranked []candidate
}

var _ maintainer = (*merging)(nil)

// shortlist is the number of partners that are searched exactly.
const shortlist = 8

type candidate struct {
	index int
	loss  float64 // D/‖α_p‖²
	h     float64
}

func newMerging(classes int) *merging {
	return &merging{
		ap: make([]float64, classes), an: make([]float64, classes),
		ranked: make([]candidate, 0, shortlist+1),
	}
}

func (g *merging) added(*model) float64 { return 0 }

func (g *merging) health(map[string]float64) {}

func (g *merging) maintain(m *model) float64 {
	p := m.weakest(m.births)
	best := candidate{index: -1, loss: math.Inf(1)}
	if m.norm[p] > 0 {
		g.propose(m, p)
		for _, c := range g.ranked {
			g.search(m, p, &c)
			if c.loss < best.loss {
				best = c
			}
		}
	}
	if best.index < 0 { // p has no weight, or squares of weights overflow
		return removal{}.maintain(m)
	}
	return g.merge(m, p, best)
}

// propose fills the shortlist with the partners that the table ranks first.
func (g *merging) propose(m *model, p int) {
	if g.table == nil {
		g.table = mergeLosses()
	}
	g.kernelRow(m, p)
	g.innerProducts(m, p)
	g.ranked = g.ranked[:0]
	for j, dot := range g.dots {
		if j == p {
			continue
		}
		r, c := merged.Ratio(m.norm[p], m.norm[j], dot)
		g.offer(candidate{index: j, loss: g.table.at(r, c, float64(g.k[j]))})
	}
}

// offer adds c to the best candidates if it is among them. Of equal candidates the earlier wins. One
// with a loss of NaN is none.
func (g *merging) offer(c candidate) {
	s := g.ranked
	if math.IsNaN(c.loss) || len(s) == shortlist && c.loss >= s[shortlist-1].loss {
		return
	}
	s = append(s, c)
	for i := len(s) - 1; i > 0 && s[i].loss < s[i-1].loss; i-- {
		s[i], s[i-1] = s[i-1], s[i]
	}
	g.ranked = s[:min(len(s), shortlist)]
}

// kernelRow sets k to κ(x_p, d_j) in float32, which suffices for ranking. If p is the newest
// element, it is the current sample, whose values the window has.
func (g *merging) kernelRow(m *model, p int) {
	g.k = grow(g.k, m.stride)[:m.order()]
	if row := m.window.row; p == m.order()-1 && p == len(row) {
		gemm.Convert(g.k, row)
		g.k[p] = 1
		return
	}
	m.dict.Block32(m.kernel, gemm.RowOf(m.dict.At(p)), gemm.RowOf(g.k), m.threads)
	m.evals += int64(m.order())
}

func (g *merging) innerProducts(m *model, p int) {
	g.dots = grow(g.dots, m.stride)[:m.order()]
	clear(g.dots)
	for c := range m.classes {
		w := m.weights(c)
		gemm.Axpy(w[p], w, g.dots)
	}
}

// search finds the exact h and loss of a candidate.
func (g *merging) search(m *model, p int, c *candidate) {
	n := c.index
	kappa := m.kernel.Eval(m.dict.At(p), m.dict.At(n))
	m.evals++
	r, cos := merged.Ratio(m.norm[p], m.norm[n], g.dots[n])
	c.h = merged.Point(r, cos, kappa)
	c.loss = merged.Loss(r, cos, kappa, c.h)
}

// merge replaces p and the partner by z. z is rounded to float32, so its weights and the
// degradation are computed from the kernel values of the rounded z.
func (g *merging) merge(m *model, p int, with candidate) float64 {
	n := with.index
	xp, xn := m.dict.At(p), m.dict.At(n)
	g.z = grow(g.z, len(xp))
	for i, v := range xp {
		g.z[i] = float32(float64(with.h*float64(v)) + float64((1-with.h)*float64(xn[i])))
	}
	kp, kn := m.kernel.Eval(xp, g.z), m.kernel.Eval(xn, g.z)
	kappa := m.kernel.Eval(xp, xn)
	m.evals += 3
	m.vector(p, g.ap)
	m.vector(n, g.an)
	m.remove(max(p, n))
	m.remove(min(p, n))
	m.append(g.z)
	return g.reweigh(m, kp, kn, kappa)
}

// reweigh sets the weights of z, the last element, to α_z and returns the degradation, the sum
// over the classes of
//
//	α_p²(1−κ_p²) + α_n²(1−κ_n²) + 2α_pα_n(κ − κ_pκ_n)
func (g *merging) reweigh(m *model, kp, kn, kappa float64) float64 {
	last := m.order() - 1
	var cost float64
	for c, ap := range g.ap {
		an := g.an[c]
		m.weights(c)[last] = float64(ap*kp) + float64(an*kn)
		cost += float64(ap*ap*(1-float64(kp*kp))) + float64(an*an*(1-float64(kn*kn))) + float64(2*ap*an*(kappa-float64(kp*kn)))
	}
	m.reweigh(last)
	return max(0, cost)
}
