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

// kompMerge is Algorithm 1 with a second way to make the dictionary smaller by one: where
// the cheapest element p is not nearly in the span of the others, p and another element q
// are replaced by a point z between them, and all weights are those of the best
// approximation. KOMP moves no element, and merging leaves the weights of the others as
// they are. The cheaper of the two ways is taken.
//
// q and z are those that the heuristic merging would take for p, which needs no inverse.
// What they cost is exact: jointCost of p and q with z in the dictionary.
type kompMerge struct {
	order  int                // as many elements are kept whatever they cost
	within func(Step) float64 // squared error that a step may add up to
}

// redundant is the squared distance to the span of the others, relative to κ(x, x), up to
// which an element is removed without a look at merging. It was chosen on data that no
// result is reported of (docs/pruning.md).
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
			p = s.Cheapest() // what was taken back has another number
		}
		if !(s.Spent()+s.Cost(p) <= most) {
			return nil
		}
		s.Remove(p)
	}
	return ctx.Err()
}

// A merger replaces the elements p and q by a point. To remove p alone costs cost.
type merger struct {
	p, q int
	cost float64
}

// merge merges the cheapest elements, each with another one, and reports whether it has
// made the dictionary smaller. The points of all mergers enter at once, which takes a
// fraction of the time of one by one.
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
	// A point that is refused can have been what made an earlier merger cheap.
	for i := len(gone) - 1; i >= 0 && s.Spent() > most; i-- {
		s.Enter(s.Point(gone[i]))
	}
	return s.Len() < before
}

// apart keeps a point off the elements that it replaces, which are left while it enters.
const apart = 1.0 / 256

// plan returns mergers of at most n of the cheapest elements, of those that are not
// redundant, and their points. No two have an element in common. More than one only if
// they cost no more than room without the refit.
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
		if room -= min(least, m.cost); room < 0 && len(mergers) > 0 {
			break
		}
		used[p], used[m.q] = true, true
		h = min(max(h, apart), 1-apart)
		mergers, points = append(mergers, m), append(points, between(s.Point(p), s.Point(m.q), h))
	}
	return mergers, points
}

// jointCost returns what the removal of i and j costs together, for P = K⁻¹ and pij = P_ij:
//
//	(P_jj‖w_i‖² + P_ii‖w_j‖² − 2P_ij·w_i·w_j) / (P_ii·P_jj − P_ij²).
func jointCost(s InverseState, i, j int, pij float64) float64 {
	pii, pjj := 1/s.Distance(i), 1/s.Distance(j)
	det := float64(pii*pjj) - float64(pij*pij)
	if !(det > 1e-12*pii*pjj) {
		return math.Inf(1) // rounding decides
	}
	return (float64(pjj*s.Norm2(i)) + float64(pii*s.Norm2(j)) - float64(2*pij*dot(s.Weights(i), s.Weights(j)))) / det
}
