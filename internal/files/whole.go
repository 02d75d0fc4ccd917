package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Write writes a file that appears under its name only when it is complete. A new file
// has the permissions that the umask allows; a replaced file keeps its permissions.
func Write(path string, write func(io.Writer) error) error {
	f, old, err := create(path)
	if err != nil {
		return err
	}
	defer Unfinished(f.Name())()
	published := false
	defer func() {
		if !published {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if old != nil {
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	defer Hold()()
	err = os.Rename(f.Name(), path)
	if cause, ok := errors.AsType[*os.LinkError](err); ok { // it names a temporary file
		err = &fs.PathError{Op: "replace", Path: path, Err: cause.Err}
	}
	published = err == nil
	return err
}

// WriteBytes writes text as Write does.
func WriteBytes(path string, text []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// Probe returns an error if Write can't write a file, so that a caller learns this
// before an hour of training.
func Probe(path string) error {
	if _, err := os.Lstat(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // the name is too long, for instance
	}
	f, old, err := create(path)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, 4096))
	if err = errors.Join(err, f.Close()); err == nil && old != nil {
		err = replaceable(path)
	}
	return err
}

// create creates a hidden file that is to become path. old is the file that it will replace, or
// nil if there is none. No more users can read the hidden file than old.
func create(path string) (f *os.File, old os.FileInfo, err error) {
	perm := os.FileMode(0o666)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		old, perm = info, info.Mode().Perm()|0o600
	}
	name := fmt.Sprintf(".runall-%d.tmp", rand.Uint64())
	f, err = os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	return f, old, err
}
