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

import (
	"fmt"
	"slices"
	"testing"

	"polkrepro/polk/prune"
)

// A check tests a property of a heuristic with certain parameters. Its error says how the
// heuristic violates the property.
type check struct {
	name string
	run  func(setup) error
}

var checks = []check{
	{"is what its definition says", equalsLiteral},
	{"keeps its budget", isSound},
	{"is determined by the seed", isDetermined},
	{"ends when the context does", canBeCancelled},
	{"goes on from a saved learner", goesOnWhenRestored},
	{"keeps by element, not by number", keepsByElement},
}

// Run tests a heuristic with each of the given parameters. If there are none, it uses a few
// values from the heuristic's grid, or smaller ones.
func Run(t *testing.T, h prune.Heuristic, params ...prune.Params) {
	t.Helper()
	if err := h.Check(); err != nil {
		t.Fatal(err)
	}
	if params == nil {
		params = someParams(h)
	}
	for _, p := range params {
		if _, err := prune.New(h, p); err != nil {
			t.Fatal(err)
		}
		for _, c := range checks {
			t.Run(fmt.Sprintf("%s/%s", p, c.name), func(t *testing.T) {
				if err := c.run(setup{h, p}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// someParams returns parameters to test with: the defaults, and a few values
// of the size parameter.
func someParams(h prune.Heuristic) []prune.Params {
	param, ok := h.SizeParam()
	grid := param.Grid
	switch {
	case h.Epsilon && slices.ContainsFunc(h.Params, func(p prune.Param) bool { return p.Name == prune.Order.Name }):
		return []prune.Params{nil, {prune.Order.Name: 7}}
	case !ok || h.Epsilon:
		return []prune.Params{nil}
	case param.Name == prune.Order.Name:
		grid = []float64{1, 7}
	case len(grid) > 1:
		grid = []float64{grid[0], grid[len(grid)-1]}
	}
	var out []prune.Params
	for _, x := range grid {
		out = append(out, prune.Params{param.Name: x})
	}
	return out
}
