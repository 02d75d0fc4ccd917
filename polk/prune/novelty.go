package prune

import (
	"context"
	"math"
)

func init() {
	Register(Heuristic{
		Name:   "novelty",
		About:  "admits a sample that is far from the dictionary and wrong by enough",
		Source: "Platt 1991 (resource-allocating network), with constant thresholds",
		Params: []Param{{
			Name: "distance", About: "δ, the distance ‖κ(x, ·) − κ(d, ·)‖ to the nearest element that admits",
			Least: Bound(0),
			Grid:  []float64{1.2, 1, 0.8, 0.6, 0.4},
		}, {
			Name: "error", About: "e, the norm of the loss's gradient that admits", Least: Bound(0), Default: Bound(0.05),
		}},
		New: func(p Params) Pruner { return novelty{p.Float("distance"), p.Float("error")} },
	})
}

// novelty admits a new element if it is farther than δ from each element before it and the
// gradient of its loss, ‖w_j‖·n/η, is greater than e (Platt, eqs. 5 and 6). Distances are taken
// in the Hilbert space, so they exist for any kernel; for a Gaussian they grow with the
// distances of the points. An element that is not admitted is dropped, and the weights of the
// others follow the gradient, as in Platt; see spread.
type novelty struct{ distance, least float64 }

func (p novelty) Prune(_ context.Context, s State) error {
	step := s.Step()
	for j := s.Old(); j < s.Total(); j++ {
		nearest, row := math.Inf(1), s.Row(j)
		for i, k := range row[:j] {
			if s.Present(i) {
				nearest = min(nearest, s.Self(i)+s.Self(j)-2*k)
			}
		}
		gradient := math.Sqrt(s.Norm2(j)) * float64(step.N) / step.Rate
		if !(nearest > p.distance*p.distance && gradient > p.least) {
			spread(s, j, row)
		}
	}
	return nil
}
