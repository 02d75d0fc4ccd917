//go:build unix && !linux

package harness

import "golang.org/x/sys/unix"

// cpuSeconds returns the processor time of the process: these systems do not
// count it per thread.
func cpuSeconds(bool) float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return seconds(u.Utime) + seconds(u.Stime)
}

func seconds(t unix.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
