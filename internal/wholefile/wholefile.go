// Package wholefile writes files that are there whole or not at all.
//
// A file that is being written is hidden beside the one that it is to become,
// and locked. What a killed process has left there is not locked, and is
// removed when the same file is written again.
package wholefile

import (
	"io"
	"os"
	"path/filepath"

	"polkrepro/internal/filelock"
)

// suffix is what the name of a file ends with that is being written.
const suffix = ".tmp"

// Write writes a file that appears under its name only when it is whole.
func Write(path string, write func(io.Writer) error) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once the file has its name
	defer f.Close()
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return publish(f, path)
}

// Probe finds out now, not after an hour of training, whether files can be
// written to a folder.
func Probe(dir string) error {
	f, err := create(filepath.Join(dir, "probe"))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(make([]byte, 4096)); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// create makes and locks the hidden file that is to become path, after it has
// removed those of dead processes.
func create(path string) (*os.File, error) {
	dir, prefix := filepath.Dir(path), "."+filepath.Base(path)+"-"
	removeDead(dir, prefix)
	for {
		f, err := os.CreateTemp(dir, prefix+"*"+suffix)
		if err != nil {
			return nil, err
		}
		// Where files can't be locked nothing is taken for dead either. If
		// another process took this one for dead before it was locked, another
		// one is made.
		if ok, err := filelock.TryLock(f); err != nil || ok && named(f) {
			return f, nil
		}
		os.Remove(f.Name()) // the other process may have
		f.Close()
	}
}

// named reports whether an open file has its name still.
func named(f *os.File) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.Name())
	return err == nil && os.SameFile(open, there)
}
