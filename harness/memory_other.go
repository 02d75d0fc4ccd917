//go:build !linux

package harness

// memoryLimit returns 0, no limit: it is not implemented for this system.
func memoryLimit() int64 { return 0 }
