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

	"polkrepro/experiments"
	"polkrepro/internal/files"
)

// packedSuffix follows that of a record which gzip has packed.
const packedSuffix = ".gz"

// Limits of what is read, far above what this project has: its longest record
// takes 90 KB with 320 points, all of them 46 MB. A line takes
// up to fifty times its length in memory while its sums are checked.
const (
	MaxSize     = 16 << 20 // bytes of a record, unpacked
	MaxPoints   = experiments.MaxEvaluations
	MaxUnpacked = 1 << 30 // bytes of all packed records of a folder, unpacked
)

// A packing counts what packed records take in memory together: a folder of
// small files could unpack to a thousand times its size.
type packing struct{ size int }

// WritePacked writes the file of a finished record, packed, into a folder that
// exists. One that is packed is copied as it is.
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

// CopyTo copies the file of a finished record into a folder that exists, where it
// takes the place of what else is there of the run: a damaged record, which may be
// packed, and what attempts that failed or were killed have left.
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

// unpack undoes pack. What is not one whole gzip file is an error.
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
		return nil, fmt.Errorf("more than %d bytes unpacked, with the records before it", MaxUnpacked)
	}
	p.size += len(text)
	return text, nil
}
