package prune

import (
	"context"
	"math"
)

func init() {
	Register(Heuristic{
		Name:   "nearest",
		About:  "gives the weights of a light element to its nearest neighbour until M are left",
		Source: "Wang and Vucetic 2010 (budgeted passive-aggressive, projection on the nearest neighbour)",
		Params: []Param{Order},
		New:    func(p Params) Pruner { return nearest{p.Int("order")} },
	})
}

// nearest projects w_j κ(x_j, ·) on the one other element that takes most of
// it, i: the weights w_i + w_j·κ_ij/κ_ii leave an error of
// ‖w_j‖²·(κ_jj − κ_ij²/κ_ii). The eight elements with the smallest weights are
// tried, and the one that costs least is removed. It needs no inverse.
type nearest struct{ order int }

func (p nearest) Prune(_ context.Context, s State) error {
	const tried = 8
	for s.Len() > p.order {
		best, to, share, least := -1, -1, 0.0, math.Inf(1)
		for _, j := range shortlist(s, tried, s.Norm2) {
			i, k, cost := neighbour(s, j)
			if cost < least || best < 0 {
				best, to, share, least = j, i, k, cost
			}
		}
		if to >= 0 {
			axpy(share, s.Weights(best), s.Weights(to))
		}
		s.Drop(best)
	}
	return nil
}

// neighbour returns the element that takes most of j, its share κ_ij/κ_ii of
// the weights, and the squared error that remains. It is −1 if there is none.
func neighbour(s State, j int) (to int, share, cost float64) {
	to, most := -1, 0.0
	for i, k := range s.Row(j) {
		if i != j && s.Present(i) && k*k > most*s.Self(i) {
			to, share, most = i, k/s.Self(i), k*k/s.Self(i)
		}
	}
	return to, share, s.Norm2(j) * (s.Self(j) - most)
}
