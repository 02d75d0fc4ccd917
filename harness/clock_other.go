//go:build !unix

package harness

import "time"

var processStart = time.Now()

// cpuSeconds returns elapsed time: processor time is not implemented for these
// systems.
func cpuSeconds(bool) float64 { return time.Since(processStart).Seconds() }
