package harness

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// layout divides the machine between n jobs: how many workers, and how many
// threads for each. workers = 0 means one a core.
func layout(workers, n int) (w, threads int) {
	cores := runtime.GOMAXPROCS(0)
	if workers <= 0 {
		workers = cores
	}
	w = max(1, min(workers, n))
	return w, max(1, cores/w)
}

// pool does jobs 0 … n−1, in that order as far as there are workers. Each
// worker has an operating-system thread to itself, so that the thread's
// processor time is the worker's. The first error cancels the context of the
// others and is returned.
func pool(ctx context.Context, workers, n int, do func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range workers {
		g.Go(func() error {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := do(ctx, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}
