//go:build race

// Package race says whether the race detector is on, for tests of arithmetic alone: it makes
// them ten times as slow and has nothing to find there.
package race

const Enabled = true
