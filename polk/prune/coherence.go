package prune

import (
	"context"
	"math"
)

func init() {
	Register(Heuristic{
		Name:   "coherence",
		About:  "admits a sample whose kernel values to the dictionary are small",
		Source: "Richard, Bermudez and Honeine 2009 (KNLMS with the coherence criterion)",
		Params: []Param{{
			Name: "threshold", About: "μ₀, the largest |κ(x, d)| that admits, for κ scaled to κ(x, x) = 1",
			Least: Bound(0), Most: Bound(1),
			Grid: []float64{0.3, 0.5, 0.7, 0.8, 0.9},
		}},
		New: func(p Params) Pruner { return coherence{p.Float("threshold")} },
	})
}

// coherence admits a new element x if max_d |κ(x, d)|/√(κ(x, x)κ(d, d)) ≤ μ₀ over the elements
// before it (Richard et al., eq. 8). Otherwise it drops x and approximates x by the dictionary
// with a step of normalized least mean squares (eq. 17); see spread. The dictionary never
// shrinks.
type coherence struct{ threshold float64 }

func (p coherence) Prune(_ context.Context, s State) error {
	for j := s.Old(); j < s.Total(); j++ {
		largest, row := 0.0, s.Row(j)
		for i, k := range row[:j] {
			if s.Present(i) {
				largest = max(largest, math.Abs(k)/math.Sqrt(s.Self(i)*s.Self(j)))
			}
		}
		if largest > p.threshold {
			spread(s, j, row)
		}
	}
	return nil
}

// spread drops element j and changes the weights of the elements before it in proportion to
// their kernel values k to x_j, so that the function's values at x_j stay the same:
// w_i + k_i·κ(x_j, x_j)·w_j/‖k‖², a step of normalized least mean squares.
func spread(s State, j int, row []float64) {
	var norm2 float64
	for i, k := range row[:j] {
		if s.Present(i) {
			norm2 += float64(k * k)
		}
	}
	if norm2 > 0 {
		for i, k := range row[:j] {
			if s.Present(i) {
				axpy(k*s.Self(j)/norm2, s.Weights(j), s.Weights(i))
			}
		}
	}
	s.Drop(j)
}
