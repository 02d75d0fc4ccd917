package data

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go/format"
)

// maxPage bounds a page of a Parquet file once it is decompressed. Writers make pages
// of about 1 MiB.
const maxPage = 256 << 20

// checkFooter reports a Parquet file whose footer is longer than the file: the library
// would allocate what it promises.
func checkFooter(file io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < 12 {
		return fmt.Errorf("%d bytes are too few for a Parquet file", size)
	}
	if _, err := file.ReadAt(tail[:], size-8); err != nil {
		return err
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:])); string(tail[4:]) != "PAR1" || n > size-12 {
		return errors.New("it is damaged or truncated: it does not end with a footer")
	}
	return nil
}

// checkPages reports pages of a column that are longer than the file, or than maxPage,
// which the library would allocate. It walks the pages' headers, in Thrift's compact
// protocol.
func checkPages(file *os.File, c *format.ColumnMetaData) error {
	from := c.DataPageOffset
	if c.DictionaryPageOffset != 0 {
		from = c.DictionaryPageOffset
	}
	if from < 0 || c.TotalCompressedSize < 0 {
		return errors.New("its pages have no place in the file")
	}
	t := &thrift{bufio.NewReader(io.NewSectionReader(file, from, c.TotalCompressedSize)), c.TotalCompressedSize}
	for t.left > 0 {
		var compressed, whole int64
		if err := t.message(0, func(field int, value int64) {
			switch field {
			case 2:
				whole = value
			case 3:
				compressed = value
			}
		}); err != nil {
			return fmt.Errorf("the header of a page: %w", err)
		}
		if whole < 0 || whole > maxPage {
			return fmt.Errorf("a page of %d bytes, want at most %d", whole, maxPage)
		}
		if err := t.skip(compressed); err != nil {
			return fmt.Errorf("a page of %d bytes: %w", compressed, err)
		}
	}
	return nil
}

// A thrift reads values of Thrift's compact protocol and keeps none.
type thrift struct {
	r    *bufio.Reader
	left int64 // bytes
}

// skip passes over bytes.
func (t *thrift) skip(n int64) error {
	if n < 0 || n > t.left {
		return errors.New("it goes beyond its place in the file")
	}
	t.left -= n
	_, err := io.CopyN(io.Discard, t.r, n)
	return truncated(err)
}

// ReadByte reads a byte.
func (t *thrift) ReadByte() (byte, error) {
	t.left--
	b, err := t.r.ReadByte()
	return b, truncated(err)
}

// number reads an integer in zigzag.
func (t *thrift) number() (int64, error) { return binary.ReadVarint(t) }

// Types of the compact protocol.
const (
	thriftStop   = 0
	thriftFalse  = 2 // and true, 1: in a message a type without bytes
	thriftByte   = 3
	thriftI64    = 6 // and i16, i32
	thriftDouble = 7
	thriftBinary = 8
	thriftSet    = 10 // and list
	thriftStruct = 12
	thriftDeep   = 16 // most messages within each other
)

// message reads the fields of a message and tells of the integers among them.
func (t *thrift) message(depth int, do func(field int, value int64)) error {
	for field := 0; ; {
		b, err := t.ReadByte()
		if err != nil || b&15 == thriftStop {
			return err
		}
		if delta := int(b >> 4); delta > 0 {
			field += delta
		} else {
			n, err := t.number()
			if err != nil {
				return err
			}
			field = int(int16(n))
		}
		kind := b & 15
		if kind <= thriftFalse {
			continue
		}
		if err := t.value(kind, depth, func(v int64) { do(field, v) }); err != nil {
			return err
		}
	}
}

// value reads one value and tells of it if it is an integer.
func (t *thrift) value(kind byte, depth int, do func(int64)) error {
	switch {
	case depth > thriftDeep:
		return errors.New("too many messages within each other")
	case kind <= thriftByte:
		return t.skip(1)
	case kind <= thriftI64:
		v, err := t.number()
		do(v)
		return err
	case kind == thriftDouble:
		return t.skip(8)
	case kind == thriftBinary:
		n, err := binary.ReadUvarint(t)
		if err != nil {
			return err
		}
		return t.skip(int64(min(n, 1<<62)))
	case kind <= thriftSet:
		return t.list(depth + 1)
	case kind == thriftStruct:
		return t.message(depth+1, func(int, int64) {})
	}
	return fmt.Errorf("a field of type %d", kind) // no page header has a map
}

// list reads the elements of a list or set.
func (t *thrift) list(depth int) error {
	b, err := t.ReadByte()
	if err != nil {
		return err
	}
	n := uint64(b >> 4)
	if n == 15 {
		if n, err = binary.ReadUvarint(t); err != nil {
			return err
		}
	}
	for ; n > 0; n-- {
		if err := t.value(b&15, depth, func(int64) {}); err != nil {
			return err
		}
	}
	return nil
}
