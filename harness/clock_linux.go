package harness

import "golang.org/x/sys/unix"

// cpuSeconds returns the processor time spent so far: by the calling thread,
// which must be locked to its goroutine, or by the whole process. Getrusage
// would count in ticks of some milliseconds, which short runs do not last.
func cpuSeconds(process bool) float64 {
	id := int32(unix.CLOCK_THREAD_CPUTIME_ID)
	if process {
		id = unix.CLOCK_PROCESS_CPUTIME_ID
	}
	return clockSeconds(id)
}

// clockSeconds reads one of the system's clocks.
func clockSeconds(id int32) float64 {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0
	}
	return float64(t.Sec) + float64(t.Nsec)/1e9
}

// threadClock returns the clock of the calling thread's processor time, which
// other threads can read.
func threadClock() func() float64 {
	// The kernel's number for a thread's clock: CPUCLOCK_PERTHREAD and
	// CPUCLOCK_SCHED below the complement of the thread's.
	id := int32(^unix.Gettid()<<3 | 4 | 2)
	return func() float64 { return clockSeconds(id) }
}
