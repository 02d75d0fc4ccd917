package prune

import (
	"context"
	"math"
)

func init() {
	const source = "Algorithm 1 of Koppel, Warnell, Stump and Ribeiro 2016; merging of Wang, Crammer and Vucetic 2012"
	Register(Heuristic{
		Name:     "komp-merge",
		About:    "KOMP that merges the cheapest element with another and refits, where that costs less than to remove it",
		Source:   source,
		Epsilon:  true,
		Gaussian: true,
		NewInverse: func(Params) InversePruner {
			return kompMerge{order: 0, within: func(s Step) float64 { return s.Epsilon * s.Epsilon }}
		},
	})
	Register(Heuristic{
		Name:     "komp-merge-order",
		About:    "komp-merge to a fixed order",
		Source:   source,
		Params:   []Param{Order},
		Gaussian: true,
		NewInverse: func(p Params) InversePruner {
			return kompMerge{order: p.Int("order"), within: func(Step) float64 { return math.Inf(1) }}
		},
	})
}

// kompMerge is Algorithm 1 with a second way to make the dictionary smaller by one. If the
// cheapest element p is not nearly in the span of the others, p and another element q can be
// replaced by a point z between them, and all weights become those of the best approximation.
// The cheaper of the two ways is taken. (KOMP moves no element, and the heuristic merging does
// not refit the weights of the others.)
//
// q and z are those that merging, which needs no inverse, would choose for p. Their cost is
// exact: jointCost of p and q with z in the dictionary.
type kompMerge struct {
	order  int                // at least this many elements are kept, whatever they cost
	within func(Step) float64 // squared error that a step may spend
}

// redundant is the squared distance to the span of the others, relative to κ(x, x), up to which
// an element is removed without considering a merger. It was chosen on data for which no results
// are reported (docs/pruning.md).
const redundant = 0.02

// isRedundant reports whether p is nearly in the span of the others.
func isRedundant(s InverseState, p int) bool { return !(s.Distance(p) > redundant*s.Self(p)) }

func (k kompMerge) Prune(ctx context.Context, s InverseState) error {
	most := k.within(s.Step())
	for s.Len() > k.order && ctx.Err() == nil {
		p := s.Cheapest()
		if s.Len() > 1 && !isRedundant(s, p) {
			if k.merge(s, most) {
				continue
			}
			p = s.Cheapest() // an element that was entered again has a new number
		}
		if !(s.Spent()+s.Cost(p) <= most) {
			return nil
		}
		s.Remove(p)
	}
	return ctx.Err()
}

// A merger replaces the elements p and q by a point. cost is the cost of removing p alone.
type merger struct {
	p, q int
	cost float64
}

// merge merges the cheapest elements, each with another one, and reports whether it has made the
// dictionary smaller. The points of all mergers enter at once, which takes a fraction of the
// time of entering them one by one.
func (k kompMerge) merge(s InverseState, most float64) bool {
	before := s.Len()
	mergers, points := plan(s, min(s.Len()-k.order, max(1, s.Len()/4)), most-s.Spent())
	column := make([]float64, s.Total()+len(points))
	var gone []int
	for i, z := range s.Enter(points...) {
		m := mergers[i]
		if z >= 0 {
			s.Column(column[:s.Total()], m.p)
			joint := jointCost(s, m.p, m.q, column[m.q])
			if joint < m.cost && s.Spent()+joint <= most {
				s.Remove(m.p)
				s.Remove(m.q)
				gone = append(gone, m.p, m.q)
				continue
			}
			s.Remove(z)
		}
		if s.Spent()+s.Cost(m.p) <= most {
			s.Remove(m.p)
			gone = append(gone, m.p)
		}
	}
	// An earlier merger may have been cheap only because of a point that was refused later.
	for i := len(gone) - 1; i >= 0 && s.Spent() > most; i-- {
		s.Enter(s.Point(gone[i]))
	}
	return s.Len() < before
}

// apart keeps a point away from the elements that it replaces, which are still present when it
// enters.
const apart = 1.0 / 256

// plan returns mergers for at most n of the cheapest elements, leaving out redundant ones, and
// their points. No two mergers share an element. plan returns more than one merger only if
// together they cost at most room without the refit.
func plan(s InverseState, n int, room float64) (mergers []merger, points [][]float32) {
	used := make([]bool, s.Total())
	for _, p := range shortlist(s, n, s.Cost) {
		if used[p] || isRedundant(s, p) {
			continue
		}
		row := s.Row(p)
		m, h, least := merger{p: p, q: -1, cost: s.Cost(p)}, 0.0, math.Inf(1)
		for _, q := range partners(s, p, row) {
			if used[q] || q == p {
				continue
			}
			if at, v := newPair(s, p, q, row[q]).best(); v < least {
				m.q, h, least = q, at, v
			}
		}
		if m.q < 0 {
			continue
		}
		room -= min(least, m.cost)
		if room < 0 && len(mergers) > 0 {
			break
		}
		used[p], used[m.q] = true, true
		h = min(max(h, apart), 1-apart)
		mergers, points = append(mergers, m), append(points, between(s.Point(p), s.Point(m.q), h))
	}
	return mergers, points
}

// jointCost returns the cost of removing i and j together, for P = K⁻¹ and pij = P_ij:
//
//	(P_jj‖w_i‖² + P_ii‖w_j‖² − 2P_ij·w_i·w_j) / (P_ii·P_jj − P_ij²).
func jointCost(s InverseState, i, j int, pij float64) float64 {
	pii, pjj := 1/s.Distance(i), 1/s.Distance(j)
	det := float64(pii*pjj) - float64(pij*pij)
	if !(det > 1e-12*pii*pjj) {
		return math.Inf(1) // rounding dominates
	}
	return (float64(pjj*s.Norm2(i)) + float64(pii*s.Norm2(j)) - float64(2*pij*dot(s.Weights(i), s.Weights(j)))) / det
}
