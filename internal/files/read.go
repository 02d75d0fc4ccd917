package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotRegular is wrapped by the error for a symbolic link, a pipe or a device,
// whose contents are elsewhere or endless.
var ErrNotRegular = errors.New("not a regular file")

// Read returns the contents of a regular file of at most limit bytes. For anything else, including
// a symbolic link, it returns an error that wraps ErrNotRegular and does not open the file.
func Read(path string, limit int64) ([]byte, error) {
	return read(os.Lstat, os.Open, path, limit)
}

// ReadNamed is Read for a file that the user names: it follows symbolic links,
// and its errors name the file.
func ReadNamed(path string, limit int64) ([]byte, error) {
	b, err := read(os.Stat, os.Open, path, limit)
	return b, naming(path, err)
}

// ReadIn is ReadNamed for a path in a folder. Links can't lead out of the folder.
func ReadIn(root *os.Root, path string, limit int64) ([]byte, error) {
	b, err := read(root.Stat, root.Open, path, limit)
	return b, naming(path, err)
}

// read checks the type of a file before it opens it, because opening a pipe could block forever.
func read(stat func(string) (fs.FileInfo, error), open func(string) (*os.File, error), path string, limit int64) ([]byte, error) {
	info, err := stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		return nil, fmt.Errorf("file too large: want at most %d bytes", limit)
	}
	return b, err
}

// naming adds a file's path to an error that lacks it.
func naming(path string, err error) error {
	if err == nil || errors.As(err, new(*fs.PathError)) {
		return err
	}
	return &fs.PathError{Op: "read", Path: path, Err: err}
}

// NoLinks returns an error for the first of the names in a folder that is a symbolic
// link, because reads and writes would go elsewhere. Names that don't exist or can't
// be examined are accepted, and so is a folder that is itself a link.
func NoLinks(dir string, names ...string) error {
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if info, err := os.Lstat(path); err == nil && path != filepath.Clean(dir) && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link, which is not followed", path)
		}
	}
	return nil
}
