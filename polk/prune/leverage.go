package prune

import "context"

func init() {
	Register(Heuristic{
		Name:   "leverage",
		About:  "removes the element with the smallest weighted ridge leverage and refits until M are left",
		Source: "ridge leverage scores of Alaoui and Mahoney 2015, weighted by ‖w_j‖²",
		Params: []Param{Order, {
			Name: "ridge", About: "γ of the leverage scores", Above: Bound(0), Default: Bound(0.1),
		}},
		Ridge:      func(p Params) float64 { return p.Float("ridge") },
		NewInverse: func(p Params) InversePruner { return leverage{p.Int("order"), p.Float("ridge")} },
	})
}

// leverage removes argmin_j ‖w_j‖²·τ_j with the ridge leverage score
// τ_j = [K(K + γI)⁻¹]_jj = 1 − γ·[(K + γI)⁻¹]_jj. The weights that remain minimize
// (w − w̃)ᵀ(K + γI)(w − w̃).
type leverage struct {
	order int
	ridge float64
}

func (p leverage) Prune(_ context.Context, s InverseState) error {
	for s.Len() > p.order {
		s.Remove(Least(s, func(j int) float64 { return s.Norm2(j) * (1 - p.ridge/s.Distance(j)) }))
	}
	return nil
}
