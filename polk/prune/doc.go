// Package prune holds the rules by which a dictionary is kept small: which
// elements of a kernel expansion leave after a step of stochastic gradient
// descent, and what becomes of their weights.
//
// A rule is a Heuristic: a name, the parameters it takes and a Pruner. It is
// one file of this package that registers itself,
//
//	func init() {
//		Register(Heuristic{
//			Name:   "smallest-weight",
//			About:  "drops the elements with the smallest weights",
//			Params: []Param{Order},
//			New:    func(p Params) Pruner { return smallestWeight{p.Int("order")} },
//		})
//	}
//
//	type smallestWeight struct{ order int }
//
//	func (p smallestWeight) Prune(_ context.Context, s State) error {
//		for s.Len() > p.order {
//			s.Drop(Least(s, s.Norm2))
//		}
//		return nil
//	}
//
// and is from then on one of those that specs can name, that runall list
// pruners prints, and that the conformance tests of prunetest are run on.
// docs/adding-a-pruner.md goes through it step by step.
//
// Package polk imports this one and implements State on the machinery of its
// own KOMP, so that this package knows nothing of how inverses are kept.
package prune
