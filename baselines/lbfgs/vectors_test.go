package lbfgs

import (
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
)

// TestOneThreadIsTheCaller: with one thread all work is done on the caller's
// goroutine, whose CPU time is then that of the work, and with any number
// every unit is done once.
func TestOneThreadIsTheCaller(t *testing.T) {
	for _, threads := range []int{1, 2, 9} {
		var done [7]atomic.Int32
		parallel(threads, len(done), func(worker, unit int) {
			done[unit].Add(1)
			if worker < 0 || worker >= min(threads, len(done)) {
				t.Errorf("worker %d of %d", worker, threads)
			}
			caller := strings.Contains(string(debug.Stack()), "TestOneThreadIsTheCaller(0x")
			if caller != (worker == 0) {
				t.Errorf("%d threads, worker %d: the caller's goroutine: %v", threads, worker, caller)
			}
		})
		for unit := range done {
			if n := done[unit].Load(); n != 1 {
				t.Errorf("%d threads: unit %d was done %d times", threads, unit, n)
			}
		}
	}
}
