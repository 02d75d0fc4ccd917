package prune

import "context"

func init() {
	Register(Heuristic{
		Name:   "rls",
		About:  "admits a sample with a probability in proportion to its ridge leverage score",
		Source: "Calandriello, Lazaric and Valko 2017 (kernel online row sampling)",
		Params: []Param{{
			Name: "sampling", About: "β, the probability by leverage score", Above: Bound(0),
			Grid: []float64{0.02, 0.05, 0.1, 0.2, 0.4},
		}, {
			Name: "ridge", About: "γ of the leverage scores", Above: Bound(0), Default: Bound(0.1),
		}},
		Ridge:      func(p Params) float64 { return p.Float("ridge") },
		NewInverse: func(p Params) InversePruner { return rls{p.Float("sampling"), p.Float("ridge")} },
	})
}

// rls admits a new element with probability min(1, β·τ), where τ is its ridge leverage score,
// estimated from the elements sampled before it: τ = 1 − γ/d with
// d = γ + κ(x, x) − k(x)ᵀ(K + γI)⁻¹k(x). Elements are not reweighted by their probabilities,
// because they already have weights. An element that is not admitted is projected on the
// dictionary.
type rls struct{ sampling, ridge float64 }

func (p rls) Prune(_ context.Context, s InverseState) error {
	rng := s.Step().Rand
	for j := s.Old(); j < s.Total(); j++ {
		score := 1 - p.ridge/s.DistanceBefore(j)
		if !(rng.Float64() < p.sampling*score) {
			s.Remove(j)
		}
	}
	return nil
}
