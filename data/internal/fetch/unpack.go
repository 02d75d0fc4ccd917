package fetch

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// An Entry is a file to take out of an archive.
type Entry struct {
	Path string // exactly as in the archive
	Name string // under which it is written
	Size int64
}

// mostOther bounds the bytes of an archive that are none of the wanted files.
const mostOther = 1 << 20

// Unpack writes files of a .tgz archive to a folder. Nothing in the archive
// decides how a file is called, where it goes or how large it is: other
// entries are skipped, and an entry that is not a regular file of the size
// wanted is an error, as are a missing one and an archive with more than 1 MiB
// of anything else. The error is a *LocalError if a file can't be written.
func Unpack(archive, dir string, entries []Entry) error {
	f, err := os.Open(archive)
	if err != nil {
		return &LocalError{err}
	}
	defer f.Close()
	wanted := make(map[string]Entry)
	most := int64(mostOther)
	for _, e := range entries {
		wanted[e.Path] = e
		most += e.Size
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	left := &io.LimitedReader{R: z, N: most}
	for r := tar.NewReader(left); len(wanted) > 0; {
		head, err := r.Next()
		if err == nil {
			if e, ok := wanted[head.Name]; ok {
				err = unpackEntry(r, head, dir, e)
				delete(wanted, e.Path)
			}
		}
		var path *fs.PathError
		switch {
		case errors.As(err, &path):
			return &LocalError{path}
		case err != nil && left.N <= 0:
			return errors.New("archive: too large once decompressed")
		case err == io.EOF:
			for _, e := range entries {
				if _, ok := wanted[e.Path]; ok {
					return fmt.Errorf("archive: %s is missing", e.Path)
				}
			}
		case err != nil:
			return fmt.Errorf("archive: %w", err)
		}
	}
	return nil
}

// unpackEntry writes one file.
func unpackEntry(r io.Reader, head *tar.Header, dir string, e Entry) error {
	switch {
	case head.Typeflag != tar.TypeReg:
		return fmt.Errorf("%s is not a regular file", e.Path)
	case head.Size != e.Size:
		return fmt.Errorf("%s has %d bytes: want %d", e.Path, head.Size, e.Size)
	}
	f, err := os.OpenFile(filepath.Join(dir, e.Name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
