package harness

import "sync"

// cores is the account of the machine's cores, which no more goroutines
// compute on at a time than there are cores. Every worker holds one while it
// has runs. The free ones are taken for evaluations, which then go on beside
// the training; what still is free serves the training of a run that is alone,
// because there is one worker or because the others have nothing left to do.
//
// While other runs are under way, training keeps to its worker's own thread:
// its processor time, which records state, could not be told from theirs.
type cores struct {
	mu      sync.Mutex
	free    int
	workers int // that have runs
}

// newCores returns the account of a machine on which workers begin.
func newCores(total, workers int) *cores {
	return &cores{free: max(0, total-workers), workers: workers}
}

// take takes a core for an evaluation and reports whether there was a free one.
func (c *cores) take() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.free == 0 {
		return false
	}
	c.free--
	return true
}

// give returns a core that was taken.
func (c *cores) give() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free++
}

// leave gives the core of a worker up that has nothing left to do.
func (c *cores) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.workers--
	c.free++
}

// threads returns on how many threads a worker may compute, until the run of
// that worker takes a core.
func (c *cores) threads() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.workers > 1 {
		return 1
	}
	return 1 + c.free
}
