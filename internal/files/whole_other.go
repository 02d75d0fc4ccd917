//go:build !unix

package files

import "os"

// publish closes a file and gives it its name: these systems rename no open
// file.
func publish(f *os.File, path string) error {
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// removeDead does nothing: a file that is closed before it gets its name can't
// be told from a dead process's.
func removeDead(dir, prefix string) {}
