package files

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// openRenamed reports whether the system can rename open files. If it can't, a file is closed
// before it is renamed, and is then indistinguishable from a file that a dead process left.
const openRenamed = runtime.GOOS != "windows"

// suffix ends the name of a file that is still being written.
const suffix = ".tmp"

// Write writes a file that appears under its name only when it is complete. A new file
// has the permissions that the umask allows; a replaced file keeps its permissions.
func Write(path string, write func(io.Writer) error) error {
	f, err := replace(path, write)
	if err == nil {
		f.Close() // already synced
	}
	return err
}

// WriteBytes writes text as Write does.
func WriteBytes(path string, text []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// replace does the work of Write but leaves the file open, and locked if open files can be renamed.
func replace(path string, write func(io.Writer) error) (*os.File, error) {
	f, old, err := create(path)
	if err != nil {
		return nil, err
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
		return nil, err
	}
	if old != nil {
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return nil, err
		}
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	defer Hold()()
	if !openRenamed {
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return nil, err
	}
	published = true
	return f, nil
}

// A Claim is the exclusive right to replace a file. The first process that claims the file has
// it. Where files can't be locked, or can't be renamed while open, a Claim excludes nobody.
type Claim struct {
	path string
	lock *os.File // nil while there is no file
}

// NewClaim claims a file, which may be missing. It returns false if another process has the claim.
func NewClaim(path string) (*Claim, bool) {
	c := &Claim{path: path}
	for {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			return c, true
		}
		f, err := os.OpenFile(path, os.O_RDONLY, 0)
		if err != nil {
			return c, true // reading the file returns the reason
		}
		switch ok, err := TryLock(f); {
		case err == nil && !ok:
			f.Close()
			return nil, false
		case err == nil && named(f):
			c.lock = f
			return c, true
		case err != nil:
			f.Close()
			return c, true
		}
		f.Close() // the file was replaced in between
	}
}

// Write writes the file like the function [Write]. The file stays claimed.
func (c *Claim) Write(write func(io.Writer) error) error {
	f, err := replace(c.path, write)
	if err == nil {
		c.Close()
		c.lock = f
	}
	return err
}

// Close releases the claim.
func (c *Claim) Close() {
	if c.lock != nil {
		c.lock.Close()
	}
}

// Probe returns an error if Write can't write a file, so that a caller learns this
// before an hour of training.
func Probe(path string) error {
	if _, err := os.Lstat(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // the name is too long, for instance
	}
	f, _, err := create(path)
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

// create removes the hidden files of dead processes, then creates and locks the
// hidden file that is to become path. old is the file that it will replace, or nil if
// there is none. No more users can read the hidden file than old.
func create(path string) (f *os.File, old os.FileInfo, err error) {
	dir, prefix := filepath.Dir(path), hidden(filepath.Base(path))
	removeDead(dir, prefix)
	perm := os.FileMode(0o666)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		old, perm = info, info.Mode().Perm()|0o600
	}
	for {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprint(prefix, rand.Uint32(), suffix)), os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		// If files can't be locked, no file is considered dead either. If another process
		// considered this file dead before it was locked, the loop creates another file.
		if ok, err := TryLock(f); err != nil || ok && named(f) {
			return f, old, nil
		}
		os.Remove(f.Name()) // the other process may have removed it already
		f.Close()
	}
}

// removeDead removes the hidden files with the given prefix that no process has
// locked. It leaves files that can't be read or removed: they do no harm.
func removeDead(dir, prefix string) {
	entries, err := os.ReadDir(dir)
	if err != nil || !openRenamed {
		return
	}
	for _, e := range entries {
		middle, ok := strings.CutPrefix(e.Name(), prefix)
		middle, ended := strings.CutSuffix(middle, suffix)
		if !ok || !ended || !e.Type().IsRegular() || strings.Trim(middle, "0123456789") != "" {
			continue
		}
		f, err := os.OpenFile(filepath.Join(dir, e.Name()), os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if ok, err := TryLock(f); ok && err == nil {
			os.Remove(f.Name())
		}
		f.Close()
	}
}

// longest is the length of the longest file name that the hidden name contains; it
// contains a hash of longer names. File systems allow 255 bytes, and some of them fewer.
const longest = 64

// hidden returns the start of the name of the hidden file that will be renamed to base.
func hidden(base string) string {
	if len(base) <= longest {
		return "." + base + "-"
	}
	return fmt.Sprintf(".%x-", sha256.Sum256([]byte(base)))
}

// named reports whether an open file still has its name.
func named(f *os.File) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.Name())
	return err == nil && os.SameFile(open, there)
}
