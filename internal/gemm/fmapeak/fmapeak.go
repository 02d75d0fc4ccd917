// Package fmapeak measures what a core's multiply-add units can do at most:
// loops of independent fused multiply-adds that touch registers only. It is
// the ceiling that the benchmarks of package gemm are held against.
package fmapeak

// Run performs about work floating-point operations of the given element size
// (32 or 64 bits), a multiply-add counting as two, on the calling goroutine,
// with the widest vectors of this CPU. It returns how many it performed, 0 if
// the CPU or the build has no vector multiply-add.
func Run(bits, work int) int {
	l, ok := loops[bits]
	if !ok {
		return 0
	}
	round := 2 * chains * l.lanes
	n := max(1, work/round)
	l.run(n)
	return n * round
}

// chains is the number of multiply-adds in a round.
const chains = 12

// loop is a routine of this CPU.
type loop struct {
	lanes int // elements of a vector
	run   func(n int)
}
