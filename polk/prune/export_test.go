package prune

// JointCost is for the oracle in formulas_test.go, which package prunetest keeps out
// of this package.
var JointCost = jointCost

// For versions_test.go.
var (
	Versions   = versions
	HashTokens = hashTokens
)

type Version = version

// Unregister takes a test's heuristic away.
func Unregister(name string) { delete(registered, name) }

// SourceHash returns the hash of the source that registers h.
func SourceHash(h Heuristic) string { return sourceHashes()[h.file] }
