// Package memtest measures for tests how much memory a function allocates.
package memtest

import (
	"runtime"
	"testing"
)

// Allocated returns the bytes that f allocates in all, those included that are
// collected before it ends: no less than what it adds to the memory in use.
// Other goroutines are counted too.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// AtMost fails the test if f allocates more than limit bytes.
func AtMost(t testing.TB, limit int, f func()) {
	t.Helper()
	if n := Allocated(f); n > uint64(limit) {
		t.Errorf("%d bytes allocated, more than %d", n, limit)
	}
}
