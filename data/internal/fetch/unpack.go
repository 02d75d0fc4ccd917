package fetch

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
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
		return localError(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	wanted := make(map[string]Entry)
	most := int64(mostOther)
	for _, e := range entries {
		wanted[e.Path] = e
		most += e.Size
	}
	files := tar.NewReader(&bounded{z, most})
	for len(wanted) > 0 {
		head, err := files.Next()
		switch {
		case err == io.EOF:
			return missing(entries, wanted)
		case err != nil:
			return fmt.Errorf("archive: %w", err)
		}
		e, ok := wanted[head.Name]
		if !ok {
			continue
		}
		if err := unpackEntry(files, head, dir, e); err != nil {
			return err
		}
		delete(wanted, e.Path)
	}
	return nil
}

// missing is the error of entries that an archive lacks: it names the first.
func missing(entries []Entry, wanted map[string]Entry) error {
	for _, e := range entries {
		if _, ok := wanted[e.Path]; ok {
			return fmt.Errorf("archive: %s is missing", e.Path)
		}
	}
	return nil
}

// unpackEntry writes one file.
func unpackEntry(r io.Reader, head *tar.Header, dir string, e Entry) error {
	switch {
	case head.Typeflag != tar.TypeReg:
		return fmt.Errorf("archive: %s is not a regular file", e.Path)
	case head.Size != e.Size:
		return fmt.Errorf("archive: %s has %d bytes: want %d", e.Path, head.Size, e.Size)
	}
	f, err := os.OpenFile(filepath.Join(dir, e.Name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return localError(err)
	}
	_, err = io.Copy(localWriter{f}, r)
	var local *LocalError
	if err != nil && !errors.As(err, &local) {
		err = fmt.Errorf("archive: %s: %w", e.Path, err)
	}
	if err == nil {
		err = localError(f.Sync())
	}
	return errors.Join(err, localError(f.Close()))
}

// A localWriter writes to a file and marks its errors as this machine's.
type localWriter struct{ f *os.File }

func (w localWriter) Write(b []byte) (int, error) {
	n, err := w.f.Write(b)
	return n, localError(err)
}

// A bounded reader fails where more bytes than are allowed would be read.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("too large once decompressed")
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
