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

// nearest projects w_j κ(x_j, ·) on the single element i that captures most of it: the weights
// w_i + w_j·κ_ij/κ_ii leave a squared error of ‖w_j‖²·(κ_jj − κ_ij²/κ_ii). It tries the eight
// elements with the smallest weights and removes the cheapest of them. It needs no inverse.
type nearest struct{ order int }

func (p nearest) Prune(_ context.Context, s State) error {
	const tried = 8
	known := make(map[int]neighbour)
	for s.Len() > p.order {
		best, least := -1, math.Inf(1)
		for _, j := range shortlist(s, tried, s.Norm2) {
			n, ok := known[j]
			if !ok || n.of >= 0 && !s.Present(n.of) {
				n = nearestTo(s, j)
				known[j] = n
			}
			if cost := s.Norm2(j) * n.rest; cost < least || best < 0 {
				best, least = j, cost
			}
		}
		if n := known[best]; n.of >= 0 {
			axpy(n.share, s.Weights(best), s.Weights(n.of))
		}
		s.Drop(best)
	}
	return nil
}

// A neighbour is the element i that captures most of another element j: of is its number, −1 if
// there is none; share is the factor κ_ij/κ_ii for the weights; and rest is the squared distance
// κ_jj − κ_ij²/κ_ii that remains.
type neighbour struct {
	of          int
	share, rest float64
}

func nearestTo(s State, j int) neighbour {
	n, most := neighbour{of: -1}, 0.0
	for i, k := range s.Row(j) {
		if i != j && s.Present(i) && k*k > most*s.Self(i) {
			n.of, n.share, most = i, k/s.Self(i), k*k/s.Self(i)
		}
	}
	n.rest = s.Self(j) - most
	return n
}
