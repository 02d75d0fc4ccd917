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

// lockName is the file in a results folder that its one writer holds locked.
const lockName = ".lock"

// RecordsDir returns the folder of a results folder that holds the records.
func RecordsDir(results string) string { return filepath.Join(results, "records") }

// ReportDir returns the folder of a results folder that reports are written to.
func ReportDir(results string) string { return filepath.Join(results, "report") }

// CheckFolder reports a results folder in which a symbolic link stands where
// this program writes or reads: a folder that someone else has made could lead
// it elsewhere. The folder itself may be a link.
func CheckFolder(results string) error {
	err := files.NoLinks(results, lockName, "records", "report", "report/tournament", "predictions")
	if err != nil {
		return Usage(fmt.Errorf("results folder: %w", err))
	}
	return nil
}

// OpenResults makes a results folder if there is none and locks it: this process has it to
// itself until the lock is closed. The error wraps ErrLocked if another process is at work in
// it, and ErrUsage if record.CheckOutput or CheckFolder refuses it.
//
// The lock file stays: removing it would let two others lock two different files of the same
// name.
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

// ReadResults reads the records of a results folder and tells warn of each that is
// incomplete or corrupt. The error wraps ErrIncomplete if the folder's seal is broken,
// and ErrUsage if CheckFolder refuses it.
func ReadResults(dir string, warn func(error)) (*record.Collection, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("results folder: %s is a file, not a folder", dir)
	}
	if err := CheckFolder(dir); err != nil {
		return nil, err
	}
	if err := record.CheckSeal(dir); err != nil {
		return nil, Incomplete(err)
	}
	have, err := record.ReadDir(RecordsDir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no records in %s; run 'runall reproduce', or name another folder", dir)
	}
	if err != nil {
		return nil, err
	}
	for _, err := range have.Errors {
		warn(fmt.Errorf("incomplete or corrupt record: %w", err))
	}
	return have, nil
}

// ReadWhole is ReadResults where records that are damaged, or none at all, are an
// error too. It wraps ErrIncomplete.
func ReadWhole(dir string, warn func(error)) (*record.Collection, error) {
	have, err := ReadResults(dir, warn)
	if err == nil {
		err = have.Damage()
	}
	return have, Incomplete(err)
}

// writeHolder notes who holds the lock, for the message that another gets.
func writeHolder(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

// readHolder returns " (process N)", or nothing if the lock file does not say.
func readHolder(f *os.File) string {
	var pid int
	if _, err := fmt.Fscan(f, &pid); err != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}

// CheckFile finds out now, not after an hour of training, whether WriteFile
// can write a file.
func CheckFile(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	err := files.Probe(path)
	if cause, ok := errors.AsType[*os.PathError](err); ok { // it names a file that the user never heard of
		err = cause.Err
	}
	if err != nil {
		return fmt.Errorf("%s can't be written: %w", path, err)
	}
	return nil
}
