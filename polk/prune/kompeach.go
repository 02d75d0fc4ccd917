package prune

import "context"

func init() {
	Register(Heuristic{
		Name:   "komp-each",
		About:  "removes the cheapest element and refits the rest while a removal costs no more than δ",
		Source: "Algorithm 1 of Koppel, Warnell, Stump and Ribeiro 2016, with errors that don't add up over a step",
		Params: []Param{{
			Name: "error", About: "δ, the error that each removal may cost", Least: Bound(0), Grid: []float64{0.5, 0.2, 0.1, 0.05, 0.02},
		}},
		NewInverse: func(p Params) InversePruner { return kompEach{p.Float("error")} },
	})
}

// kompEach is Algorithm 1 with the errors γ_j measured against the function before each removal,
// not against the f̃ at the start of the step.
type kompEach struct{ most float64 }

func (k kompEach) Prune(ctx context.Context, s InverseState) error {
	return Pursue(ctx, s, 0, func(j int) bool { return s.Cost(j) <= k.most*k.most })
}
