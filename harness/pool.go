package harness

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// layout returns the number of workers for n jobs and the cores that they share.
// workers = 0 means one worker a core; more workers than cores would only slow each
// other down.
func layout(workers, n int) (int, *cores) {
	workers = max(1, min(Workers(workers), n))
	return workers, newCores(runtime.GOMAXPROCS(0), workers)
}

// Workers returns the number of concurrent runs for a value of Options.Workers.
func Workers(asked int) int {
	total := runtime.GOMAXPROCS(0)
	if asked <= 0 {
		return total
	}
	return min(asked, total)
}

// cores determines the number of threads of a worker: one while other workers have runs,
// and all cores once the worker is alone. With several threads a record's processor time
// could not be separated from that of other runs.
type cores struct {
	total   int
	workers atomic.Int64 // number of workers that have runs
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

// pool starts jobs 0 … n−1 in this order, each on the next free worker. Each worker
// has its own operating-system thread, so that the thread's processor time is the
// worker's. A worker without a job leaves its core to the other workers. The first
// error cancels the context of all jobs and is returned.
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
