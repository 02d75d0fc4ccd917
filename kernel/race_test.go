//go:build race

package kernel

// raceEnabled leaves out what the race detector itself makes slow or large.
const raceEnabled = true
