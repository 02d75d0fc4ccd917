// Package parallel splits work among goroutines. Unlike errgroup, it tells each unit
// the number of its worker, so that a worker can keep scratch space, and starts one
// goroutine per worker instead of one per unit.
package parallel

import (
	"sync"
	"sync/atomic"
)

// Do calls do for the units 0 … units−1 on at most threads goroutines, including the
// caller's. Workers are numbered from 0. With one thread it starts no goroutine. The results
// are independent of threads only if the result of a unit does not depend on its worker.
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
