package harness

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// layout returns the number of workers for n jobs, and how many
// threads each may use. workers = 0 means one a core; more than there are
// cores would only get in each other's way.
func layout(workers, n int) (int, *cores) {
	total := runtime.GOMAXPROCS(0)
	if workers <= 0 {
		workers = total
	}
	workers = max(1, min(workers, total, n))
	return workers, newCores(total, workers)
}

// cores says on how many threads a worker may compute: on one while other workers have
// runs, because its processor time, which records state, could not be told from theirs,
// and on all cores once it is alone.
type cores struct {
	total   int
	workers atomic.Int64 // that have runs
}

func newCores(total, workers int) *cores {
	c := &cores{total: total}
	c.workers.Store(int64(workers))
	return c
}

func (c *cores) threads() int {
	if c.workers.Load() > 1 {
		return 1
	}
	return c.total
}

// pool does jobs 0 … n−1, in that order as far as there are workers. Each
// worker has an operating-system thread to itself, so that the thread's
// processor time is the worker's, and leaves its core to the others when it
// finds no job. The first error cancels the context of the others and is
// returned.
func pool(ctx context.Context, workers int, cores *cores, n int, do func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range workers {
		g.Go(func() error {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			defer cores.workers.Add(-1)
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
