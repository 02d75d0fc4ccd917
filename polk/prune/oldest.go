package prune

import "context"

func init() {
	Register(Heuristic{
		Name:   "oldest",
		About:  "drops the elements that entered first until M are left",
		Source: "Dekel, Shalev-Shwartz and Singer 2008 (forgetron), without its shrinking",
		Params: []Param{Order},
		New:    func(p Params) Pruner { return oldest{p.Int("order")} },
	})
}

// oldest drops the element of the greatest age, as the forgetron does. It omits the shrinking of
// the weights, which the forgetron needs for its mistake bound.
type oldest struct{ order int }

func (p oldest) Prune(_ context.Context, s State) error {
	for s.Len() > p.order {
		s.Drop(Least(s, func(j int) float64 { return -float64(s.Age(j)) }))
	}
	return nil
}
