//go:build !race

package learnertest_test

const raceEnabled = false
