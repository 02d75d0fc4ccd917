//go:build race

package online

// raceEnabled shrinks what is arithmetic alone: the race detector makes it ten
// times as slow and has nothing to find there.
const raceEnabled = true
