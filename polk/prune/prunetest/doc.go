// Package prunetest holds the tests that every pruning heuristic passes:
//
//	func TestMine(t *testing.T) { prunetest.Run(t, mine) }
//
// A heuristic of package prune is tested by that package's own tests as soon as
// it is registered.
//
// The tests hold the heuristic on polk.Learner against literal.Learner, which computes each
// quantity of prune.State and prune.InverseState by its definition, and look at what it
// claims: its budget, that it decides by the seed alone, that a saved learner goes on as
// if nothing had happened, and that duplicates, one element, none and numbers that are not
// finite are no trouble.
package prunetest
