//go:build !linux

package harness

// memoryLimit returns 0, no limit: this system's memory is not looked up.
func memoryLimit() int64 { return 0 }
