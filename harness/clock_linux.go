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
