package harness

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"polkrepro/internal/files"
	"polkrepro/record"
)

// lockName is the name of the lock file in a results folder. A folder has one writer,
// which holds the lock.
const lockName = ".lock"

// RecordsDir returns the folder of the records in a results folder.
func RecordsDir(results string) string { return filepath.Join(results, "records") }

// ReportDir returns the folder of the report in a results folder.
func ReportDir(results string) string { return filepath.Join(results, "report") }

// CheckFolder returns an error that wraps ErrUsage if a results folder has a symbolic
// link at a path that this program reads or writes: a folder made by someone else could
// redirect it elsewhere. The results folder itself may be a link.
func CheckFolder(results string) error {
	err := files.NoLinks(results, lockName, "records", "report", "report/comparison", "predictions")
	if err != nil {
		return Usage(fmt.Errorf("results folder: %w", err))
	}
	return nil
}

// OpenResults creates a results folder if necessary and locks it for this process until the
// lock is closed. The error wraps ErrLocked if another process holds the lock, and ErrUsage if
// record.CheckOutput or CheckFolder refuses the folder.
//
// Closing does not remove the lock file: otherwise two processes could lock two different
// files of the same name.
func OpenResults(dir string) (lock io.Closer, err error) {
	if err := record.CheckOutput(dir); err != nil {
		return nil, Usage(fmt.Errorf("results folder: %w", err))
	}
	if err := CheckFolder(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(RecordsDir(dir), 0o777); err != nil {
		return nil, fmt.Errorf("results folder: %w", err)
	}
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, fmt.Errorf("results folder: %w", err)
	}
	ok, err := files.TryLock(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("results folder: lock %s: %w", path, err)
	}
	if !ok {
		holder := readHolder(f)
		f.Close()
		return nil, fmt.Errorf("%w: %s is in use by another runall%s; wait for it, or name another folder with --results", ErrLocked, dir, holder)
	}
	if err := writeHolder(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("results folder: %w", err)
	}
	if err := files.Probe(filepath.Join(RecordsDir(dir), "probe")); err != nil {
		f.Close()
		return nil, fmt.Errorf("results folder: %w", err)
	}
	return f, nil
}

// CheckResults returns the error that OpenResults would return now, before a search for settings. It
// makes no folder.
func CheckResults(dir string) error {
	if _, err := os.Lstat(RecordsDir(dir)); errors.Is(err, fs.ErrNotExist) {
		return CheckFolder(dir)
	}
	lock, err := OpenResults(dir)
	if err != nil {
		return err
	}
	return lock.Close()
}

// ReadResults reads the records of a results folder and calls warn for each incomplete or
// corrupt record. The error wraps ErrIncomplete if the folder's seal is broken, and
// ErrUsage if CheckFolder refuses the folder. A file that is record.Unreadable is an error.
func ReadResults(dir string, warn func(error)) (*record.Collection, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("results folder: %s is a file, not a folder", dir)
	}
	if err := CheckFolder(dir); err != nil {
		return nil, err
	}
	if err := record.CheckSeal(dir); err != nil {
		return nil, incomplete(err)
	}
	have, err := record.ReadDir(RecordsDir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s", ErrNoRecords, dir)
	}
	if err != nil {
		return nil, err
	}
	for _, err := range have.Errors {
		warn(fmt.Errorf("incomplete or corrupt record: %w", err))
	}
	return have, nil
}

// ReadWhole is ReadResults, but damaged records are an error too. All errors wrap
// ErrIncomplete, except those of files that are record.Unreadable.
func ReadWhole(dir string, warn func(error)) (*record.Collection, error) {
	have, err := ReadResults(dir, warn)
	if err == nil {
		err = have.Damage()
	}
	return have, incomplete(err)
}

// incomplete is Incomplete for all errors but that of an unreadable file, which may be whole.
func incomplete(err error) error {
	if record.Unreadable(err) {
		return err
	}
	return Incomplete(err)
}

// writeHolder writes the process ID to the lock file, for the error message in other
// processes.
func writeHolder(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

// readHolder returns " (process N)", or "" if the lock file has no process ID.
func readHolder(f *os.File) string {
	var pid int
	if _, err := fmt.Fscan(f, &pid); err != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}

// CheckFile returns an error if a file can't be written, so that the user learns it
// before an hour of training.
func CheckFile(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	err := files.Probe(path)
	if cause, ok := errors.AsType[*os.PathError](err); ok { // it names a temporary file that the user does not know
		err = cause.Err
	}
	if err != nil {
		return fmt.Errorf("%s can't be written: %w", path, err)
	}
	return nil
}
