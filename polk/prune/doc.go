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
// docs/adding-a-pruner.md goes through it step by step. In a program outside of
// this module [New] makes a Heuristic a learner's pruner, registered or not, as
// the example of New does; [Find] makes one of those that are here.
//
// # Which one
//
// The paper's KOMP keeps to an error and lets the model order follow. For a fixed
// order, komp-order removes the same elements and stops at M; [Pursue] is the loop of
// both, for one that stops by a rule of its own. [All] lists the
// others with what they do and where they are from; runall compare measures them,
// and docs/pruning.md has its findings.
//
// Those with NewInverse in place of New use K_DD⁻¹, O(M²) a step, and refit the
// weights of what stays; the others cost O(M) and leave the weights alone.
//
// A pruner belongs to one learner and is called by it alone, so it needs no lock.
// Everything that it does must follow from its state, its parameters and Step.Rand:
// runs must repeat bit for bit.
//
// Package external makes a Heuristic of a script or program in any language.
//
// Package polk imports this one and implements the states on the machinery of its
// own KOMP, so that this package knows nothing of how inverses are kept.
package prune
