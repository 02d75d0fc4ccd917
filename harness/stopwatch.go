package harness

import (
	"time"

	"polkrepro/record"
)

// A stopwatch adds up the time that is spent training, evaluations excluded.
//
// The processor time of a step on one thread is the thread's, that of a step on several
// the process's: such a step is taken only while no other run is under way. It includes
// what little the process does besides, such as showing the progress. Where the system
// does not tell the time of one thread, processor time is the process's, other runs
// included.
type stopwatch struct {
	total record.Timing

	process bool // several threads
	wall    time.Time
	cpu     float64
}

// start begins a step on a number of threads.
func (s *stopwatch) start(threads int) {
	s.process = threads > 1
	s.wall, s.cpu = time.Now(), cpuSeconds(s.process)
}

func (s *stopwatch) stop() {
	s.total.Wall += time.Since(s.wall).Seconds()
	s.total.CPU += cpuSeconds(s.process) - s.cpu
}
