package harness

import (
	"time"

	"polkrepro/record"
)

// A stopwatch adds up the time of training without evaluations.
//
// The processor time of a step on one thread is that of the thread. The processor time of a
// step on several threads is that of the process: such a step runs only while no other run
// is active. It includes the little other work of the process, such as the progress display.
// If the system has no processor time per thread, the time is always that of the process,
// other runs included.
type stopwatch struct {
	total record.Timing

	process bool // whether the step has several threads
	wall    time.Time
	cpu     float64
}

// start begins timing a step on a number of threads.
func (s *stopwatch) start(threads int) {
	s.process = threads > 1
	s.wall, s.cpu = time.Now(), cpuSeconds(s.process)
}

func (s *stopwatch) stop() {
	s.total.Wall += time.Since(s.wall).Seconds()
	s.total.CPU += max(0, cpuSeconds(s.process)-s.cpu) // below 0 if the step ended on another thread
}
