//go:build !race

package data

// raceEnabled says that the race detector slows everything down about tenfold.
const raceEnabled = false
