package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxIDXDims bounds the number of dimensions of an IDX file.
const maxIDXDims = 4

// An IDX is an array of bytes as MNIST's files hold it.
type IDX struct {
	Dims []int  // the size along each dimension, 1 to 4 of them
	Data []byte // row-major
}

// ReadIDX reads an IDX file of unsigned bytes, plain or gzip, to its end. It
// returns an error if the magic number is another, if the file holds fewer or
// more bytes than its header says, if it is not whole gzip, or if the header
// announces more than limit bytes; no more is allocated than was really read.
func ReadIDX(r io.Reader, limit int64) (*IDX, error) {
	r, err := decompressed(r)
	if err != nil {
		return nil, err
	}
	kind, dims, size, err := idxHeader(r, limit)
	if err != nil {
		return nil, err
	}
	if kind != 0x08 {
		return nil, fmt.Errorf("IDX element type 0x%02x is not supported: only unsigned bytes (0x08) are", kind)
	}
	// LimitReader and ReadFrom grow with what is there, not with what the
	// header announces.
	var buf bytes.Buffer
	if n, err := buf.ReadFrom(io.LimitReader(r, size+1)); err != nil {
		return nil, fmt.Errorf("IDX data, after %d of %d bytes: %w", n, size, truncated(err))
	}
	switch n := int64(buf.Len()); {
	case n < size:
		return nil, fmt.Errorf("IDX data end after %d of %d bytes: %w", n, size, io.ErrUnexpectedEOF)
	case n > size:
		return nil, fmt.Errorf("IDX file has trailing bytes after the %d its header announces", size)
	}
	return &IDX{dims, buf.Bytes()}, nil
}

// idxTypes are the element types of IDX files, as NumPy calls them.
var idxTypes = map[byte]string{0x08: "|u1", 0x09: "|i1", 0x0b: ">i2", 0x0c: ">i4", 0x0d: ">f4", 0x0e: ">f8"}

// readIDXElements reads an IDX file of any of them.
func readIDXElements(r io.Reader, labels bool) (*elements, error) {
	kind, dims, size, err := idxHeader(r, maxSourceValues)
	if err != nil {
		return nil, err
	}
	t, err := npyTypeOf(idxTypes[kind], labels)
	if err != nil {
		return nil, fmt.Errorf("unknown IDX element type 0x%02x", kind)
	}
	e := &elements{dims: dims}
	return e, e.read(r, t, int(size), labels)
}

// idxHeader reads the beginning of an IDX file of at most limit elements: their type,
// the dimensions, and how many there are.
func idxHeader(r io.Reader, limit int64) (kind byte, dims []int, size int64, err error) {
	var magic [4]byte
	if err := readFull(r, magic[:], "magic number"); err != nil {
		return 0, nil, 0, err
	}
	if magic[0] != 0 || magic[1] != 0 {
		return 0, nil, 0, fmt.Errorf("not an IDX file: it starts with % x", magic)
	}
	if magic[3] < 1 || magic[3] > maxIDXDims {
		return 0, nil, 0, fmt.Errorf("IDX file of %d dimensions: between 1 and %d are supported", magic[3], maxIDXDims)
	}
	dims, size = make([]int, magic[3]), 1
	for i := range dims {
		var b [4]byte
		if err := readFull(r, b[:], "dimensions"); err != nil {
			return 0, nil, 0, err
		}
		n := int64(binary.BigEndian.Uint32(b[:]))
		if n == 0 {
			return 0, nil, 0, fmt.Errorf("IDX dimension %d is 0: no data", i+1)
		}
		if n > limit/size {
			return 0, nil, 0, fmt.Errorf("IDX header announces more than %d elements", limit)
		}
		size *= n
		dims[i] = int(n)
	}
	return magic[2], dims, size, nil
}

// readFull fills b or says what ended too early.
func readFull(r io.Reader, b []byte, what string) error {
	if _, err := io.ReadFull(r, b); err != nil {
		return fmt.Errorf("IDX %s: %w", what, truncated(err))
	}
	return nil
}

// truncated turns an end of file where there must be none into
// io.ErrUnexpectedEOF.
func truncated(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// decompressed returns a reader of r's bytes, through gzip if they begin with
// gzip's magic number.
func decompressed(r io.Reader) (io.Reader, error) {
	br := bufio.NewReader(r)
	if head, err := br.Peek(2); err != nil || head[0] != 0x1f || head[1] != 0x8b {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return br, nil
	}
	zr, err := gzip.NewReader(br)
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", truncated(err))
	}
	return zr, nil
}
