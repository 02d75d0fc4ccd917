package prune

// JointCost is for the oracle in formulas_test.go, which package prunetest keeps out
// of this package.
var JointCost = jointCost
