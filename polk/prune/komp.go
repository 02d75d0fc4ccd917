package prune

import (
	"context"
	"math"
)

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

func (komp) Limits(s Step) (order int, err2 float64) { return 0, s.Epsilon * s.Epsilon }

func (k komp) Prune(ctx context.Context, s InverseState) error { return greedy(ctx, s, k) }

// greedy is the loop that learners run for a Greedy pruner, by InverseState alone.
func greedy(ctx context.Context, s InverseState, g Greedy) error {
	order, err2 := g.Limits(s.Step())
	for s.Len() > order {
		if err := ctx.Err(); err != nil {
			return err
		}
		j := Least(s, s.Cost)
		if !math.IsInf(err2, 1) && !(s.Spent()+s.Cost(j) <= err2) {
			return nil
		}
		s.Remove(j)
	}
	return nil
}
