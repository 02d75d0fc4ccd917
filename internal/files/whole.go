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

// openRenamed says whether the system renames open files. Where it does not, a file is closed
// before it gets its name, and can't be told from a dead process's.
const openRenamed = runtime.GOOS != "windows"

// suffix is what the name of a file ends with that is being written.
const suffix = ".tmp"

// Write writes a file that appears under its name only when it is whole. A new
// file has the permissions that the umask leaves; one that is replaced keeps its
// own.
func Write(path string, write func(io.Writer) error) error {
	f, err := replace(path, write)
	if err == nil {
		f.Close() // all was synced
	}
	return err
}

// WriteBytes is Write of a text that is there already.
func WriteBytes(path string, text []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// replace is Write that leaves the file open, and locked where open files are renamed.
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

// A Claim is a file that only this process replaces, of those that claim it first.
// Where files can't be locked, or renamed while they are open, nothing is claimed.
type Claim struct {
	path string
	lock *os.File // nil while there is no file
}

// NewClaim claims a file, which may be missing. It reports false if another process
// has it.
func NewClaim(path string) (*Claim, bool) {
	c := &Claim{path: path}
	for {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			return c, true
		}
		f, err := os.OpenFile(path, os.O_RDONLY, 0)
		if err != nil {
			return c, true // whoever reads it says why
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
		f.Close() // it was replaced in between
	}
}

// Write is the function Write. The file stays claimed.
func (c *Claim) Write(write func(io.Writer) error) error {
	f, err := replace(c.path, write)
	if err == nil {
		c.Close()
		c.lock = f
	}
	return err
}

// Close gives the file up.
func (c *Claim) Close() {
	if c.lock != nil {
		c.lock.Close()
	}
}

// Probe finds out now, not after an hour of training, whether Write can write a
// file.
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

// create makes and locks the hidden file that is to become path, after it has
// removed those of dead processes, and returns the file that it is to replace,
// nil if there is none. No more users can read the hidden file than that one.
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
		// Where files can't be locked nothing is taken for dead either. If
		// another process took this one for dead before it was locked, another
		// one is made.
		if ok, err := TryLock(f); err != nil || ok && named(f) {
			return f, old, nil
		}
		os.Remove(f.Name()) // the other process may have
		f.Close()
	}
}

// removeDead removes the hidden files of a prefix that no process has locked.
// What can't be read or removed is left: it does no harm.
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

// longest is the length of a file's name from which on the hidden file is named
// by a hash: file systems allow 255 bytes, and some of them fewer.
const longest = 64

// hidden returns what the name of the hidden file begins with that is to get a
// name.
func hidden(base string) string {
	if len(base) <= longest {
		return "." + base + "-"
	}
	return fmt.Sprintf(".%x-", sha256.Sum256([]byte(base)))
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
