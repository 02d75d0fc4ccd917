package record

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// packedSuffix follows that of a record which gzip has packed.
const packedSuffix = ".gz"

// maxUnpacked bounds what a packed record may take in memory: a hundred times
// the longest of this project.
const maxUnpacked = 64 << 20

// WritePacked writes the file of a finished record, packed, into a folder that
// exists. One that is packed is copied as it is.
func (r *Record) WritePacked(dir string) error {
	text, err := os.ReadFile(r.Path)
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
	return WriteFile(filepath.Join(dir, name), func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
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
func unpack(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("not packed by gzip: %w", ErrDamaged)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, ErrIncomplete
	case err != nil:
		return nil, fmt.Errorf("gzip: %w", ErrDamaged)
	case len(text) > maxUnpacked:
		return nil, fmt.Errorf("more than %d bytes unpacked", maxUnpacked)
	}
	return text, nil
}
