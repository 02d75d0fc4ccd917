package prune

import "context"

func init() {
	Register(Heuristic{
		Name:       "komp-order",
		About:      "removes the cheapest element and refits the rest until M are left",
		Source:     "Algorithm 1 of Koppel, Warnell, Stump and Ribeiro 2016, stopped by order",
		Params:     []Param{Order},
		NewInverse: func(p Params) InversePruner { return kompOrder{p.Int("order")} },
	})
}

// kompOrder is Algorithm 1 with a largest model order in place of an error
// budget.
type kompOrder struct{ order int }

func (k kompOrder) Prune(ctx context.Context, s InverseState) error {
	return Pursue(ctx, s, k.order, func(int) bool { return true })
}
