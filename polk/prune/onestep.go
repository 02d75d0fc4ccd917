package prune

import "context"

func init() {
	Register(Heuristic{
		Name:   "one-step",
		About:  "drops the element whose absence changes the function least, without a refit, until M are left",
		Source: "Crammer, Kandola and Singer 2004 remove by such a margin; Kivinen, Smola and Williamson 2004",
		Params: []Param{Order},
		New:    func(p Params) Pruner { return oneStep{p.Int("order")} },
	})
}

// oneStep drops argmin_j ‖g + w_j κ(x_j, ·)‖², where g is the sum of the terms dropped so far in
// this step. This is the greedy choice for the error ‖f − f̃‖ when no weight is refitted.
// ‖g + w_j κ_j‖² = ‖g‖² + 2 w_j·g(x_j) + κ(x_j, x_j)‖w_j‖².
type oneStep struct{ order int }

func (p oneStep) Prune(_ context.Context, s State) error {
	if s.Len() <= p.order {
		return nil
	}
	c := s.Step().Outputs
	g := make([]float64, s.Total()*c) // g(x_j)
	for s.Len() > p.order {
		j := Least(s, func(j int) float64 {
			return float64(s.Self(j)*s.Norm2(j)) + 2*dot(s.Weights(j), g[j*c:(j+1)*c])
		})
		for i, k := range s.Row(j) {
			axpy(k, s.Weights(j), g[i*c:(i+1)*c])
		}
		s.Drop(j)
	}
	return nil
}
