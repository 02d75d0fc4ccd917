package record

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"polkrepro/internal/files"
	"polkrepro/spec"
)

// packedSuffix is appended to the file name of a record packed by gzip.
const packedSuffix = ".gz"

// Limits of the reader, far above the needs of this project: its longest record takes
// 90 KB with 320 points, all its records take 46 MB. A line takes up to fifty times
// its length in memory while its sums are checked.
const (
	MaxSize     = 16 << 20 // bytes of a record, unpacked
	MaxPoints   = spec.MaxEvaluations
	MaxUnpacked = 1 << 30 // bytes of all packed records of a folder, unpacked
)

// A packing counts the unpacked bytes of several records: a folder of small files
// could unpack to a thousand times its size.
type packing struct{ size int }

// WritePacked writes the packed file of a finished record into an existing folder. A
// file that is packed already is copied.
func (r *Record) WritePacked(dir string) error {
	text, err := files.Read(r.Path, MaxSize)
	if err != nil {
		return err
	}
	name := filepath.Base(r.Path)
	if !strings.HasSuffix(name, packedSuffix) {
		name += packedSuffix
		if text, err = pack(text); err != nil {
			return err
		}
	}
	return files.WriteBytes(filepath.Join(dir, name), text)
}

// CopyTo copies the file of a finished record into an existing folder. It replaces all
// other files of the run there: a damaged record, packed or not, and the files of failed
// or killed attempts.
func (r *Record) CopyTo(dir string) error {
	text, err := files.Read(r.Path, MaxSize)
	if err == nil {
		err = files.WriteBytes(filepath.Join(dir, filepath.Base(r.Path)), text)
	}
	for _, old := range []string{failedSuffix, partialSuffix, sealedSuffix, sealedSuffix + packedSuffix} {
		if name := r.Header.ID + old; err == nil && name != filepath.Base(r.Path) {
			if err = os.Remove(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
	}
	return err
}

func pack(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// unpack undoes pack. Anything but a complete gzip file is an error.
func (p *packing) unpack(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("not packed by gzip: %w", ErrDamaged)
	}
	most := min(MaxSize, MaxUnpacked-p.size)
	text, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, ErrIncomplete
	case err != nil:
		return nil, fmt.Errorf("gzip: %w", ErrDamaged)
	case len(text) > MaxSize:
		return nil, fmt.Errorf("more than %d bytes unpacked", MaxSize)
	case len(text) > most:
		return nil, fmt.Errorf("the packed records of the folder have more than %d bytes unpacked", MaxUnpacked)
	}
	p.size += len(text)
	return text, nil
}
