//go:build !unix && !windows

package fetch

import "os"

// tryLock always succeeds: these systems have no lock that would go away with
// the process, and a lock that outlives a killed process does more harm than none.
func tryLock(*os.File) (bool, error) { return true, nil }
