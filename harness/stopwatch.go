package harness

import (
	"time"

	"polkrepro/record"
)

// A stopwatch adds up the time that is spent training, evaluations excluded.
type stopwatch struct {
	process bool // processor time of the process, not of the thread
	total   record.Timing
	wall    time.Time
	cpu     float64
}

func (s *stopwatch) start() {
	s.wall, s.cpu = time.Now(), cpuSeconds(s.process)
}

func (s *stopwatch) stop() {
	s.total.Wall += time.Since(s.wall).Seconds()
	s.total.CPU += cpuSeconds(s.process) - s.cpu
}
