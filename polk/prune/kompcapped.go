package prune

import "context"

func init() {
	Register(Heuristic{
		Name:   "komp-capped",
		About:  "KOMP within ε, and beyond it while there are more than M",
		Source: "Algorithm 1 of Koppel, Warnell, Stump and Ribeiro 2016, with a largest order",
		Params: []Param{{
			Name: Order.Name, About: Order.About, Integer: true, Least: Order.Least, Most: Order.Most, Default: Bound(500),
		}},
		Epsilon:    true,
		NewInverse: func(p Params) InversePruner { return kompCapped{p.Int("order")} },
	})
}

// kompCapped is Algorithm 1 with an error budget and a largest model order. It removes elements
// within ε, and beyond ε the cheapest ones while there are more than order. The budget removes
// numerically equal elements, which an order alone would keep until K_DD is singular.
type kompCapped struct{ order int }

func (k kompCapped) Prune(ctx context.Context, s InverseState) error {
	return Pursue(ctx, s, 0, func(j int) bool { return s.Len() > k.order || WithinBudget(s, j) })
}
