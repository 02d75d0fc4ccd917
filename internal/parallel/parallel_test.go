package parallel

import (
	"sync/atomic"
	"testing"
)

// TestDo checks that every unit is done once, by a worker whose number is below threads.
func TestDo(t *testing.T) {
	for _, threads := range []int{-1, 0, 1, 2, 7} {
		for _, units := range []int{0, 1, 3, 100} {
			done := make([]atomic.Int32, units)
			Do(threads, units, func(worker, unit int) {
				if worker < 0 || worker >= max(threads, 1) {
					t.Errorf("%d threads, %d units: worker %d", threads, units, worker)
				}
				done[unit].Add(1)
			})
			for u := range done {
				if n := done[u].Load(); n != 1 {
					t.Errorf("%d threads: unit %d of %d done %d times", threads, u, units, n)
				}
			}
		}
	}
}
