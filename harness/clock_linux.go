package harness

import "golang.org/x/sys/unix"

// cpuSeconds returns the processor time spent so far: by the calling thread,
// which must be locked to its goroutine, or by the whole process.
func cpuSeconds(process bool) float64 {
	who := unix.RUSAGE_THREAD
	if process {
		who = unix.RUSAGE_SELF
	}
	var u unix.Rusage
	if err := unix.Getrusage(who, &u); err != nil {
		return 0
	}
	return seconds(u.Utime) + seconds(u.Stime)
}

func seconds(t unix.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

// threadClock returns the clock of the calling thread's processor time, which
// other threads can read.
func threadClock() func() float64 {
	// The kernel's number for a thread's clock: CPUCLOCK_PERTHREAD and
	// CPUCLOCK_SCHED below the complement of the thread's.
	id := int32(^unix.Gettid()<<3 | 4 | 2)
	return func() float64 {
		var t unix.Timespec
		if err := unix.ClockGettime(id, &t); err != nil {
			return 0
		}
		return float64(t.Sec) + float64(t.Nsec)/1e9
	}
}
