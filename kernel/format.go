package kernel

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
)

// A saved expansion is, in this order and little-endian:
//
//	8 bytes   the magic "POLKMDL" and the version of the format, 1
//	4 bytes   length of the header
//	header    JSON: kernel, dimension, outputs, order, and what the caller adds
//	float32   order×dimension dictionary, row-major
//	float64   order×outputs weights, row-major
//	32 bytes  SHA-256 of all that precedes
var magic = [8]byte{'P', 'O', 'L', 'K', 'M', 'D', 'L', 1}

// maxHeader bounds what a damaged length can make ReadExpansion allocate.
const maxHeader = 1 << 20

// ErrFormat is wrapped by every error of ReadExpansion that is due to the
// bytes themselves.
var ErrFormat = errors.New("kernel: not a whole saved model")

type header struct {
	Kernel  spec            `json:"kernel"`
	Dim     int             `json:"dim"`
	Outputs int             `json:"outputs"`
	Order   int             `json:"order"`
	Meta    json.RawMessage `json:"meta,omitempty"`
}

type spec struct {
	Type      string  `json:"type"`
	Bandwidth float64 `json:"bandwidth,omitempty"`
	Offset    float64 `json:"offset,omitempty"`
	Degree    int     `json:"degree,omitempty"`
}

// Write saves e to w together with meta, any value that encodes
// to JSON.
func (e *Expansion) Write(w io.Writer, meta any) error {
	h := header{Dim: e.Dict.Dim(), Outputs: e.Outputs, Order: e.Order()}
	switch k := e.Kernel.(type) {
	case Gaussian:
		h.Kernel = spec{Type: k.Name(), Bandwidth: k.Bandwidth}
	case Polynomial:
		h.Kernel = spec{Type: k.Name(), Offset: k.Offset, Degree: k.Degree}
	default:
		return fmt.Errorf("kernel: a model with a %s kernel has no saved form", k.Name())
	}
	var err error
	if h.Meta, err = json.Marshal(meta); err != nil {
		return err
	}
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	sum := sha256.New()
	b := bufio.NewWriter(io.MultiWriter(w, sum))
	b.Write(magic[:])
	binary.Write(b, binary.LittleEndian, uint32(len(head)))
	b.Write(head)
	for i := range e.Order() {
		binary.Write(b, binary.LittleEndian, e.Dict.At(i))
	}
	binary.Write(b, binary.LittleEndian, e.W)
	if err := b.Flush(); err != nil { // holds the first error of all writes above
		return err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// ReadExpansion reads what Write wrote and decodes the meta data into meta, if
// that is not nil. A damaged, truncated or newer file is an error, and cannot
// make it allocate more than a small multiple of the bytes that are there.
func ReadExpansion(r io.Reader, meta any) (*Expansion, error) {
	d := &decoder{sum: sha256.New()}
	d.r = io.TeeReader(bufio.NewReader(r), d.sum)
	h, err := d.header()
	if err != nil {
		return nil, err
	}
	k, err := h.Kernel.kernel()
	if err != nil {
		return nil, err
	}
	e := NewExpansion(k, h.Dim, h.Outputs)
	x, err := readFloats[float32](d, h.Order, h.Dim)
	if err != nil {
		return nil, err
	}
	if e.W, err = readFloats[float64](d, h.Order, h.Outputs); err != nil {
		return nil, err
	}
	for i := range h.Order {
		e.Dict.Append(x[i*h.Dim : (i+1)*h.Dim])
	}
	if err := d.checksum(); err != nil {
		return nil, err
	}
	if meta != nil {
		if err := json.Unmarshal(h.Meta, meta); err != nil {
			return nil, fmt.Errorf("%w: %v", ErrFormat, err)
		}
	}
	return e, nil
}

type decoder struct {
	r   io.Reader
	sum hash.Hash
}

func (d *decoder) bytes(n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(d.r, b); err != nil {
		return nil, d.fail(err)
	}
	return b, nil
}

func (d *decoder) fail(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: it ends too early", ErrFormat)
	}
	return err
}

func (d *decoder) header() (header, error) {
	var h header
	b, err := d.bytes(12)
	if err != nil {
		return h, err
	}
	switch {
	case !bytes.Equal(b[:7], magic[:7]):
		return h, fmt.Errorf("%w: it does not start with %q", ErrFormat, magic[:7])
	case b[7] != magic[7]:
		return h, fmt.Errorf("%w: it has version %d, this program reads version %d", ErrFormat, b[7], magic[7])
	}
	n := binary.LittleEndian.Uint32(b[8:])
	if n > maxHeader {
		return h, fmt.Errorf("%w: a header of %d bytes", ErrFormat, n)
	}
	if b, err = d.bytes(int(n)); err != nil {
		return h, err
	}
	if err := json.Unmarshal(b, &h); err != nil {
		return h, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	const most = 1 << 31
	if h.Dim < 1 || h.Outputs < 1 || h.Order < 0 || h.Dim > most || h.Outputs > most || h.Order > most {
		return h, fmt.Errorf("%w: %d elements of dimension %d with %d outputs", ErrFormat, h.Order, h.Dim, h.Outputs)
	}
	return h, nil
}

func (s spec) kernel() (Kernel, error) {
	var k Kernel
	switch s.Type {
	case Gaussian{}.Name():
		k = Gaussian{Bandwidth: s.Bandwidth}
	case Polynomial{}.Name():
		k = Polynomial{Offset: s.Offset, Degree: s.Degree}
	default:
		return nil, fmt.Errorf("%w: unknown kernel %q", ErrFormat, s.Type)
	}
	if err := k.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	return k, nil
}

// readFloats reads rows×cols finite numbers row by row, so that a lying header
// meets the end of the file before it has cost memory.
func readFloats[T float32 | float64](d *decoder, rows, cols int) ([]T, error) {
	var out []T
	const chunk = 1 << 12
	for left := rows * cols; left > 0; {
		part := make([]T, min(left, chunk))
		if err := binary.Read(d.r, binary.LittleEndian, part); err != nil {
			return nil, d.fail(err)
		}
		for _, v := range part {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return nil, fmt.Errorf("%w: it holds the number %v", ErrFormat, v)
			}
		}
		out = append(out, part...)
		left -= len(part)
	}
	return out, nil
}

func (d *decoder) checksum() error {
	want := d.sum.Sum(nil)
	got, err := d.bytes(len(want))
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%w: its SHA-256 is %x, not the %x at its end", ErrFormat, want, got)
	}
	if _, err := io.ReadFull(d.r, got[:1]); err != io.EOF {
		return fmt.Errorf("%w: there are bytes after its end", ErrFormat)
	}
	return nil
}
