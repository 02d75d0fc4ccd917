// Package prune holds the heuristics that keep a dictionary small. They decide which elements
// leave a kernel expansion after a step of stochastic gradient descent, and what happens to
// their weights.
//
// A [Heuristic] has a name, parameters and a Pruner. Each has one file in this package, which
// registers it:
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
// Specs can then name it, runall list pruners prints it, and the conformance tests of prunetest
// run on it. docs/adding-a-pruner.md explains this step by step. In a program outside this
// module, [New] makes a learner's pruner from any Heuristic, registered or not (see the example
// of New), and [Find] makes one from the name of a registered heuristic.
//
// # Which one
//
// The paper's KOMP keeps to an error budget and lets the model order follow. For a fixed order,
// komp-order removes the same elements and stops at M. Both run the loop [Pursue], which also
// takes other stopping rules. [All] lists the other heuristics with their descriptions and
// sources; runall compare measures them, and docs/pruning.md reports the results.
//
// Heuristics with NewInverse in place of New use K_DD⁻¹, at O(M²) per step, and refit the
// weights of the elements that stay. The others cost O(M) per step and don't refit.
//
// A pruner belongs to one learner, and only this learner calls it, so it needs no lock.
// Everything that it does must follow from its state, its parameters and Step.Rand, because runs
// must repeat bit for bit.
//
// Package external makes a Heuristic from a script or program in any language.
//
// Package polk imports this package and implements its states with the machinery of its own
// KOMP, so this package does not know how inverses are kept.
package prune
