package harness

import (
	"sync"
	"time"

	"polkrepro/record"
)

// A stopwatch adds up the time that is spent training, evaluations excluded.
//
// The processor time of a step on one thread is the thread's. That of a step
// on several is the process's less that of an evaluation beside it: such a
// step is taken only while no other run is under way. It includes what little
// the process does besides, such as showing the progress. Where the system
// does not tell the time of one thread, processor time is the process's,
// other runs and evaluations included.
type stopwatch struct {
	total  record.Timing
	beside meter

	process bool // several threads
	wall    time.Time
	cpu     float64
}

// start begins a step on a number of threads.
func (s *stopwatch) start(threads int) {
	s.process = threads > 1
	s.wall, s.cpu = time.Now(), s.processor()
}

func (s *stopwatch) stop() {
	s.total.Wall += time.Since(s.wall).Seconds()
	s.total.CPU += s.processor() - s.cpu
}

func (s *stopwatch) processor() float64 {
	if !s.process {
		return cpuSeconds(false)
	}
	return cpuSeconds(true) - s.beside.seconds()
}

// A meter adds up the processor time of the threads that evaluate beside the
// training. It can be read at any time, from any thread.
type meter struct {
	mu    sync.Mutex
	total float64
	clock func() float64 // of the thread that evaluates, or nil
}

// begin counts the time of the calling thread, which must be locked to its
// goroutine, until end.
func (m *meter) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock = threadClock()
	m.total -= m.clock()
}

func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total += m.clock()
	m.clock = nil
}

func (m *meter) seconds() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clock == nil {
		return m.total
	}
	return m.total + m.clock()
}
