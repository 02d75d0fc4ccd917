package prune

// JointCost is for the oracle in formulas_test.go, which can't be in this package because it
// imports package literal.
var JointCost = jointCost

// For versions_test.go.
var (
	Versions   = versions
	HashTokens = hashTokens
)

type Version = version

// SourceHash returns the hash of the source that registers h.
func SourceHash(h Heuristic) string { return sourceHashes()[h.file] }
