// Package parallel shares work among goroutines. Unlike errgroup it tells each unit
// its worker, for scratch space that a worker keeps, and starts one goroutine for each
// worker, not for each unit.
package parallel

import (
	"sync"
	"sync/atomic"
)

// Do calls do for the units 0 … units−1 on at most threads goroutines, the
// caller's one of them, numbered from 0. With one thread it starts none. For
// results that do not depend on threads, what a unit computes must not depend
// on its worker.
func Do(threads, units int, do func(worker, unit int)) {
	threads = max(1, min(threads, units))
	var next atomic.Int64
	drain := func(worker int) {
		for {
			u := int(next.Add(1)) - 1
			if u >= units {
				return
			}
			do(worker, u)
		}
	}
	var wg sync.WaitGroup
	for w := 1; w < threads; w++ {
		wg.Go(func() { drain(w) })
	}
	drain(0)
	wg.Wait()
}
