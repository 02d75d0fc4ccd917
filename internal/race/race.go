//go:build race

// Package race tells whether the race detector is enabled. Tests of arithmetic alone check
// it, because the detector makes them ten times as slow and has nothing to find in them.
package race

const Enabled = true
