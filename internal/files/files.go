// Package files reads and writes files that other processes may be using, that
// another user may have created, or that a killed process left behind.
//
// After kill -9:
//
//   - A file written by [Write] has its old or its new contents, never a part.
//     The killed process leaves a hidden file beside it, .runall-NUMBER.tmp.
//   - A lock taken by [TryLock] is free: the system releases it.
//   - [Sum] detects that a file completed by [AppendSum] was truncated.
//
// A process that can still act, for instance after Ctrl-C, leaves nothing behind: [Freeze] waits
// for steps that must not be interrupted, and [RemoveUnfinished] removes all unfinished files.
//
// After a power failure the same holds. Write syncs the contents before it renames
// the file; only [SyncDir] makes the renaming durable.
package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// SyncDir makes the renaming of files in a folder durable, on systems that can sync folders.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// MakeFolder makes a folder and its parents. abandon removes those of them that did not exist before
// and are empty.
func MakeFolder(path string) (abandon func(), err error) {
	var made []string // the deepest first
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, dir)
	}
	return func() {
		for _, dir := range made {
			os.Remove(dir) // fails for a folder that is not empty
		}
	}, os.MkdirAll(path, 0o777)
}
