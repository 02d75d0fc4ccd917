// Package modelfile reads and writes the common frame of the module's binary files. A
// file consists of, in this order and little-endian:
//
//	8 bytes   seven letters that identify the format, and its version
//	4 bytes   length of the header
//	header    JSON
//	          body, defined by the format
//	32 bytes  SHA-256 of all preceding bytes
package modelfile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
)

// maxHeader is the largest size of a header that Open accepts, in bytes.
const maxHeader = 1 << 24

// A Format is a kind of file.
type Format struct {
	Magic [8]byte // seven letters and the version, the only one that Open accepts
	Err   error   // wrapped by every read error that is caused by the data itself
}

// Write writes a file with the version of f. The output of body follows the header.
// body may ignore errors of its writer, because Write returns the first of them.
func (f Format) Write(w io.Writer, header any, body func(io.Writer)) error {
	head, err := json.Marshal(header)
	if err != nil {
		return err
	}
	if len(head) > maxHeader {
		return fmt.Errorf("modelfile: the header has %d bytes, and at most %d can be read", len(head), maxHeader)
	}
	sum := sha256.New()
	b := bufio.NewWriter(io.MultiWriter(w, sum))
	b.Write(f.Magic[:])
	binary.Write(b, binary.LittleEndian, uint32(len(head)))
	b.Write(head)
	body(b)
	if err := b.Flush(); err != nil { // holds the first error of all writes above
		return err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// Size returns the size of a file with a header of head bytes and a body.
func Size(head int, body int64) int64 { return 12 + int64(head) + body + sha256.Size }

// A Reader reads the part of a file that follows the header.
type Reader struct {
	f   Format
	r   io.Reader
	sum hash.Hash
}

// Open reads the beginning of a file and decodes its header.
func (f Format) Open(r io.Reader, header any) (*Reader, error) {
	d := &Reader{f: f, sum: sha256.New()}
	d.r = io.TeeReader(bufio.NewReader(r), d.sum)
	b, err := d.Bytes(12)
	if err != nil {
		return nil, err
	}
	switch {
	case !bytes.Equal(b[:7], f.Magic[:7]):
		return nil, fmt.Errorf("%w: it does not start with %q", f.Err, f.Magic[:7])
	case b[7] != f.Magic[7]:
		return nil, fmt.Errorf("%w: it has version %d, and this program reads version %d", f.Err, b[7], f.Magic[7])
	}
	n := binary.LittleEndian.Uint32(b[8:])
	if n > maxHeader {
		return nil, fmt.Errorf("%w: a header of %d bytes", f.Err, n)
	}
	if b, err = d.Bytes(int(n)); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, header); err != nil {
		return nil, fmt.Errorf("%w: %v", f.Err, err)
	}
	if err := unique(json.NewDecoder(bytes.NewReader(b))); err != nil {
		return nil, fmt.Errorf("%w: %v", f.Err, err)
	}
	return d, nil
}

// unique returns an error if an object in the next value of a valid JSON text has a duplicate key,
// because programs differ in which of the values they use. It ignores case, as Unmarshal does.
func unique(d *json.Decoder) error {
	open, err := d.Token()
	if _, nested := open.(json.Delim); !nested || err != nil {
		return err
	}
	seen := make(map[string]bool)
	for d.More() {
		if open == json.Delim('{') {
			token, _ := d.Token()
			key := strings.ToLower(token.(string))
			if seen[key] {
				return fmt.Errorf("duplicate key %.40q in its header", key)
			}
			seen[key] = true
		}
		if err := unique(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func (d *Reader) fail(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: the file is truncated", d.f.Err)
	}
	return err
}

// Bytes reads n bytes. Like Floats, it allocates memory only as the data arrives.
func (d *Reader) Bytes(n int) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(min(n, 1<<20) + bytes.MinRead) // grows beyond that only as data arrives
	err := d.Copy(&b, int64(n))
	return b.Bytes(), err
}

// Section returns a reader of the next n bytes. The caller must read all of them
// before it reads anything else from d.
func (d *Reader) Section(n int64) io.Reader { return io.LimitReader(d.r, n) }

// Copy copies n bytes to w.
func (d *Reader) Copy(w io.Writer, n int64) error {
	_, err := io.CopyN(w, d.r, n)
	return d.fail(err)
}

// Sum returns the SHA-256 of all bytes read so far.
func (d *Reader) Sum() []byte { return d.sum.Sum(nil) }

// Floats reads n finite numbers in small chunks, so that a header with a false count
// leads to the end of the file before it costs memory.
func Floats[T float32 | float64 | uint32 | uint64](d *Reader, n int) ([]T, error) {
	const chunk = 1 << 12
	out := make([]T, 0, min(n, chunk))
	for len(out) < n {
		more := min(n-len(out), chunk)
		out = slices.Grow(out, more)
		part := out[len(out) : len(out)+more]
		if err := binary.Read(d.r, binary.LittleEndian, part); err != nil {
			return nil, d.fail(err)
		}
		for _, v := range part {
			if v-v != 0 {
				return nil, fmt.Errorf("%w: value %v: must be finite", d.f.Err, v)
			}
		}
		out = out[:len(out)+more]
	}
	return out, nil
}

// Rows reads n rows of dim finite numbers. It reads each row separately, so that no
// copy of all rows exists.
func Rows[T float32 | float64](d *Reader, n, dim int) (rows [][]T, err error) {
	for range n {
		row, err := Floats[T](d, dim)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Close reads the checksum. It returns an error if the checksum does not match the
// bytes read, or if more bytes follow it. It does not close the underlying reader.
func (d *Reader) Close() error {
	want := d.sum.Sum(nil)
	got, err := d.Bytes(len(want))
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%w: wrong checksum: the SHA-256 is %x, the file has %x", d.f.Err, want, got)
	}
	if _, err := io.ReadFull(d.r, got[:1]); err != io.EOF {
		return fmt.Errorf("%w: there are bytes after its end", d.f.Err)
	}
	return nil
}
