// Package prunetest holds the tests that every pruning heuristic must pass:
//
//	func TestMine(t *testing.T) { prunetest.Run(t, mine) }
//
// A heuristic of package prune is tested by that package's own tests as soon as
// it is registered.
//
// The tests compare what the heuristic does to the state of a polk.Learner with what it does to a
// copy that computes each quantity of prune.State and prune.InverseState by its definition. They also check that the
// heuristic keeps its budget, that its decisions depend on the seed alone, that a restored
// learner continues like the saved one, and that it handles duplicates and small dictionaries.
package prunetest
