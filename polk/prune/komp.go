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
	return Pursue(ctx, s, 0, func(j int) bool { return WithinBudget(s, j) })
}

// Pursue is the loop of Algorithm 1. It removes the cheapest element and refits the others,
// while more than order elements are left and may allows the removal of the cheapest. When ctx
// is done it stops and returns the context's error.
func Pursue(ctx context.Context, s InverseState, order int, may func(j int) bool) error {
	for s.Len() > order && ctx.Err() == nil { // line 2
		j := s.Cheapest() // lines 3 to 6
		if !may(j) {      // line 7
			return nil // line 8
		}
		s.Remove(j) // lines 9 to 12
	}
	return ctx.Err()
}

// WithinBudget reports whether line 7, γ_j ≤ ε, allows the removal of element j.
func WithinBudget(s InverseState, j int) bool {
	eps := s.Step().Epsilon
	return s.Spent()+s.Cost(j) <= eps*eps
}
