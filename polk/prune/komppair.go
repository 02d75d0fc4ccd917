package prune

import (
	"context"
	"math"
)

func init() {
	Register(Heuristic{
		Name:       "komp-pair",
		About:      "KOMP to a fixed order that looks ahead: it removes the cheapest pair, not the cheapest element twice",
		Params:     []Param{Order},
		NewInverse: func(p Params) InversePruner { return kompPair{p.Int("order")} },
	})
}

// kompPair removes the pair i, j of least joint cost. With P = K⁻¹ it is
//
//	(P_jj‖w_i‖² + P_ii‖w_j‖² − 2P_ij·w_i·w_j) / (P_ii·P_jj − P_ij²),
//
// which the greedy choice exceeds where two elements stand in for each other.
// Pairs are looked for among the eight elements that cost least.
type kompPair struct{ order int }

func (p kompPair) Prune(_ context.Context, s InverseState) error {
	var column []float64
	for s.Len() > p.order {
		list := shortlist(s, 8, s.Cost)
		if s.Len() == p.order+1 {
			s.Remove(list[0])
			continue
		}
		if column == nil {
			column = make([]float64, s.Total())
		}
		bi, bj, least := list[0], list[1], math.Inf(1)
		for a, i := range list[:len(list)-1] {
			s.Column(column, i)
			for _, j := range list[a+1:] {
				if v := jointCost(s, i, j, column[j]); v < least {
					bi, bj, least = i, j, v
				}
			}
		}
		s.Remove(bi)
		s.Remove(bj)
	}
	return nil
}

func jointCost(s InverseState, i, j int, pij float64) float64 {
	pii, pjj := 1/s.Distance(i), 1/s.Distance(j)
	det := float64(pii*pjj) - float64(pij*pij)
	if !(det > 1e-12*pii*pjj) {
		return math.Inf(1) // rounding decides
	}
	return (float64(pjj*s.Norm2(i)) + float64(pii*s.Norm2(j)) - float64(2*pij*dot(s.Weights(i), s.Weights(j)))) / det
}
