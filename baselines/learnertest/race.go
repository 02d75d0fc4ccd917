//go:build race

package learnertest

// RaceEnabled says that the race detector is on: it makes a kernel of another package
// ten times as slow, and matrix products allocate under it.
const RaceEnabled = true
