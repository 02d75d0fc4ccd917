package harness

import "golang.org/x/sys/unix"

// cpuSeconds returns the processor time spent so far by the calling thread,
// which must be locked to its goroutine, or by the whole process. Getrusage
// counts in ticks of some milliseconds, too coarse for short runs.
func cpuSeconds(process bool) float64 {
	id := int32(unix.CLOCK_THREAD_CPUTIME_ID)
	if process {
		id = unix.CLOCK_PROCESS_CPUTIME_ID
	}
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0
	}
	return float64(t.Sec) + float64(t.Nsec)/1e9
}
