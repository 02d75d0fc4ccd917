package prune

import "context"

func init() {
	Register(Heuristic{
		Name:       KOMP,
		About:      "removes the cheapest element and refits the rest while the error stays within ε",
		Source:     "Algorithm 1 of Koppel, Warnell, Stump and Ribeiro 2016; Vincent and Bengio 2002",
		Epsilon:    true,
		NewInverse: func(Params) InversePruner { return komp{} },
	})
}

// komp is destructive kernel orthogonal matching pursuit with pre-fitting
// (Algorithm 1): it removes argmin_j γ_j while min_j γ_j ≤ ε, with
// γ_j² = r² + ‖w_j‖²/[K⁻¹]_jj and r² the squared error spent so far.
type komp struct{}

func (komp) Prune(ctx context.Context, s InverseState) error {
	epsilon := s.Step().Epsilon
	for ctx.Err() == nil {
		j := s.Cheapest()
		if j < 0 || !(s.Spent()+s.Cost(j) <= epsilon*epsilon) {
			return nil
		}
		s.Remove(j)
	}
	return ctx.Err()
}
