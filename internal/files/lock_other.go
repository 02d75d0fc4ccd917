//go:build !unix && !windows

package files

import "os"

// TryLock always succeeds. These systems have no lock that is released when the
// process ends, and a lock that outlives a killed process does more harm than no lock.
func TryLock(*os.File) (bool, error) { return true, nil }
