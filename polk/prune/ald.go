package prune

import "context"

func init() {
	Register(Heuristic{
		Name:   "ald",
		About:  "admits a sample that is not approximately a linear combination of the dictionary",
		Source: "Engel, Mannor and Meir 2004 (approximate linear dependence)",
		Params: []Param{{
			Name: "threshold", About: "ν, the squared distance to the dictionary's span that admits",
			Least: Bound(0),
			Grid:  []float64{0.5, 0.3, 0.1, 0.03, 0.01},
		}},
		NewInverse: func(p Params) InversePruner { return ald{p.Float("threshold")} },
	})
}

// ald admits a new element if its squared distance to the span of the elements before it,
// δ = κ(x, x) − k(x)ᵀK⁻¹k(x), is more than ν (Engel et al., eq. 3.3). Otherwise the element is
// projected on the dictionary, whose weights become w + K⁻¹k(x)·w_j. The dictionary never
// shrinks.
type ald struct{ threshold float64 }

func (p ald) Prune(_ context.Context, s InverseState) error {
	for j := s.Old(); j < s.Total(); j++ {
		if !(s.DistanceBefore(j) > p.threshold) {
			s.Remove(j)
		}
	}
	return nil
}
