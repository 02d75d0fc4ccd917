//go:build !race

package polk

const raceEnabled = false
