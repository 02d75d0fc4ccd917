package prune

import (
	"context"
	"math"

	"polkrepro/internal/merged"
)

func init() {
	Register(Heuristic{
		Name:     "merging",
		About:    "merges the lightest element with another one until M are left",
		Source:   "Wang, Crammer and Vucetic 2012 (BSGD)",
		Params:   []Param{Order},
		Gaussian: true,
		New:      func(p Params) Pruner { return merging{p.Int("order")} },
	})
}

// merging replaces the element p of least norm and a partner q by one point
// z = h·x_p + (1−h)·x_q. It chooses the q and the h that leave the least error
//
//	‖w_p κ_p + w_q κ_q − w_z κ_z‖² = ‖w_p‖² + ‖w_q‖² + 2κ_pq·w_p·w_q − ‖w_z‖²,
//
// where w_z = w_p κ(x_p, z) + w_q κ(x_q, z), κ(x_p, z) = κ_pq^((1−h)²) and κ(x_q, z) = κ_pq^(h²)
// (Wang et al., Section 6.3). Partners are ranked by the smaller error of h = 0 and h = ½; the
// best h is searched for the first eight.
type merging struct{ order int }

func (m merging) Prune(_ context.Context, s State) error {
	for s.Len() > m.order {
		p := Least(s, s.Norm2)
		if s.Norm2(p) == 0 || s.Len() == 1 {
			s.Drop(p)
			continue
		}
		row := s.Row(p)
		with, h, least := -1, 0.0, math.Inf(1)
		for _, q := range partners(s, p, row) {
			if at, v := newPair(s, p, q, row[q]).best(); q != p && (v < least || with < 0) {
				with, h, least = q, at, v
			}
		}
		merge(s, p, with, h)
	}
	return nil
}

// partners returns the elements that p may be merged with, best first; row is κ(x_p, ·). p
// itself may be the last.
func partners(s Elements, p int, row []float64) []int {
	const tried = 8
	pp := s.Norm2(p)
	return shortlist(s, tried, func(q int) float64 {
		if q == p {
			return math.Inf(1)
		}
		// The loss at h = ½ is at least (1 − √κ)²·(‖w_p‖² + ‖w_q‖²), because w_p·w_q is at most
		// half of that sum. For most q, which are far away, this exceeds the loss at h = 0
		// despite rounding.
		atQ, apart := (1-float64(row[q]*row[q]))*pp, 1-math.Sqrt(row[q])
		if apart*apart*(pp+s.Norm2(q)) > atQ*(1+1e-9) {
			return atQ
		}
		half := math.Sqrt(math.Sqrt(row[q]))
		return min(atQ, newPair(s, p, q, row[q]).lossAt(half, half))
	})
}

// A pair holds ‖w_p‖², ‖w_q‖², w_p·w_q and κ_pq.
type pair struct{ pp, qq, pq, kappa float64 }

func newPair(s Elements, p, q int, kappa float64) pair {
	return pair{s.Norm2(p), s.Norm2(q), dot(s.Weights(p), s.Weights(q)), kappa}
}

// lossAt returns the squared error for a = κ(x_p, z) and b = κ(x_q, z).
func (p pair) lossAt(a, b float64) float64 {
	return float64((1-float64(a*a))*p.pp) + float64((1-float64(b*b))*p.qq) + float64(2*(p.kappa-float64(a*b))*p.pq)
}

// best returns the best h on the side of the heavier element, where the error has a single
// minimum, and the squared error there. If the weights are equal up to rounding, it takes the
// side of q.
func (p pair) best() (h, loss float64) {
	if p.pp > p.qq*(1+1e-9) {
		h, loss = pair{p.qq, p.pp, p.pq, p.kappa}.best()
		return 1 - h, loss
	}
	r, c := merged.Ratio(p.pp, p.qq, p.pq)
	h = merged.Point(r, c, p.kappa)
	return h, p.pp * merged.Loss(r, c, p.kappa, h)
}

// merge replaces p and q by a point. The point is rounded to float32, so the kernel values in
// its weights are computed from the rounded point.
func merge(s State, p, q int, h float64) {
	step, xp, xq := s.Step(), s.Point(p), s.Point(q)
	z := between(xp, xq, h)
	w := make([]float64, step.Outputs)
	axpy(step.Kernel.Eval(xp, z), s.Weights(p), w)
	axpy(step.Kernel.Eval(xq, z), s.Weights(q), w)
	s.Drop(p)
	s.Drop(q)
	s.Add(z, w)
}

// between returns h·a + (1−h)·b.
func between(a, b []float32, h float64) []float32 {
	z := make([]float32, len(a))
	for i, v := range a {
		z[i] = float32(float64(h*float64(v)) + float64((1-h)*float64(b[i])))
	}
	return z
}
