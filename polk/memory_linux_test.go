package polk

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"polkrepro/internal/testutil"
)

// memoryChild is the environment variable that marks the process whose memory is measured.
const memoryChild = "POLK_MEMORY_CHILD"

// BenchmarkPeakMemory trains a model of 784 features and ten classes to the order M in a separate
// process. It reports the peak resident set of the process (maxrss-MB) and the size of the
// dictionary in single precision (dictionary-MB). Order 1 measures the test binary itself.
func BenchmarkPeakMemory(b *testing.B) {
	for _, order := range []int{1, 1000, 2000} {
		b.Run(fmt.Sprintf("M=%d", order), func(b *testing.B) {
			if os.Getenv(memoryChild) != "" {
				l, draw := hardStream(b, hinge, order, 784)
				for l.Expansion().Order() < order {
					x, y := draw()
					mustStep(b, l, 32, x, y)
				}
				return
			}
			var peak int64
			for range b.N {
				peak = max(peak, childPeak(b))
			}
			b.ReportMetric(float64(peak)/1e6, "maxrss-MB")
			b.ReportMetric(float64(4*784*order)/1e6, "dictionary-MB")
		})
	}
}

// childPeak runs this benchmark in a new process and returns its peak resident
// set in bytes.
func childPeak(b *testing.B) int64 {
	exe, err := os.Executable()
	testutil.NoError(b, err)
	cmd := exec.Command(exe, "-test.run=^$", "-test.bench=^"+b.Name()+"$", "-test.benchtime=1x")
	cmd.Env = append(os.Environ(), memoryChild+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) * 1024
}
