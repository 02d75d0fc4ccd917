//go:build race

package learnertest_test

// raceEnabled leaves out learners that have nothing of their own for the race
// detector to find: it makes a kernel of another package ten times as slow.
const raceEnabled = true
