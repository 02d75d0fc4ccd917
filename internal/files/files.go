// Package files reads and writes files that other processes are at work on,
// that someone else may have put there, or that a killed process left behind.
//
// What holds after kill -9:
//
//   - A file that [Write] writes is the old one or the new one, never a part.
//     What the killed process had written is a hidden file beside it, which is
//     no longer locked; the next Write of the same file removes it (on Unix).
//   - A lock of [TryLock] is free: the system releases it.
//   - A file that is completed by [AppendSum] and was cut off is known by [Sum].
//
// Where the process can still act, after Ctrl-C for instance, it leaves nothing:
// [Freeze] waits for steps that must not be cut in two, and [RemoveUnfinished]
// removes the rest.
//
// After a power cut the same holds. Write syncs the bytes before it renames the
// file; only [SyncDir] makes the renaming last.
package files

import (
	"errors"
	"os"
	"runtime"
)

// SyncDir makes the renaming of files in a folder durable, where folders can be
// synced.
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
