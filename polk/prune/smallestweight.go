package prune

import "context"

func init() {
	Register(Heuristic{
		Name:   "smallest-weight",
		About:  "drops the elements with the smallest weights until M are left",
		Source: "Kivinen, Smola and Williamson 2004 (NORMA truncates small coefficients)",
		Params: []Param{Order},
		New:    func(p Params) Pruner { return smallestWeight{p.Int("order")} },
	})
}

// smallestWeight drops argmin_j ‖w_j‖.
type smallestWeight struct{ order int }

func (p smallestWeight) Prune(_ context.Context, s State) error {
	for s.Len() > p.order {
		s.Drop(Least(s, s.Norm2))
	}
	return nil
}
