package prune_test

import (
	"testing"

	"polkrepro/polk/prune"
	"polkrepro/polk/prune/prunetest"
)

// Every heuristic that registers itself passes the suite.
func TestAll(t *testing.T) {
	for _, h := range prune.All() {
		t.Run(h.Name, func(t *testing.T) { prunetest.Run(t, h) })
	}
}
