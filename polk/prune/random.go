package prune

import "context"

func init() {
	Register(Heuristic{
		Name:   "random",
		About:  "drops elements at random until M are left",
		Source: "Cavallanti, Cesa-Bianchi and Gentile 2007 (randomized budget perceptron)",
		Params: []Param{Order},
		New:    func(p Params) Pruner { return random{p.Int("order")} },
	})
}

// random drops elements, each with the same probability, as the randomized
// budget perceptron does.
type random struct{ order int }

func (p random) Prune(_ context.Context, s State) error {
	rng := s.Step().Rand
	for s.Len() > p.order {
		skip := rng.IntN(s.Len())
		j := 0
		for ; !s.Present(j) || skip > 0; j++ {
			if s.Present(j) {
				skip--
			}
		}
		s.Drop(j)
	}
	return nil
}
