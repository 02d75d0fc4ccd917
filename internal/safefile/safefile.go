// Package safefile reads files that someone else may have put there, and keeps
// to a folder whose contents someone else may have made.
package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotRegular is wrapped by the error of a file that is a symbolic link, a
// pipe or a device: its contents are elsewhere, or have no end.
var ErrNotRegular = errors.New("not a regular file")

// Read returns the contents of a regular file of at most limit bytes. The error
// wraps ErrNotRegular if it is something else, without opening it.
func Read(path string, limit int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return b, err
}

// NoLinks reports the first of the names in a folder that is a symbolic link,
// through which one would read or write elsewhere. A name that is not there or
// can't be looked at is fine, and so is a folder that is itself a link.
func NoLinks(dir string, names ...string) error {
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link, which is not followed", path)
		}
	}
	return nil
}
