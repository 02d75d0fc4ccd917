//go:build !unix

package harness

import "time"

var processStart = time.Now()

// cpuSeconds returns elapsed time: these systems' processor time is not
// looked up.
func cpuSeconds(bool) float64 { return time.Since(processStart).Seconds() }
