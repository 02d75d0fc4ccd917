package online

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"polkrepro/kernel"
	"polkrepro/polk"
)

// A model file is, in this order and little-endian:
//
//	8 bytes   the magic "POLKOWN" and the version of the format, 1
//	4 bytes   length of the header
//	header    JSON: the settings, the number of rows taken, and how many the file holds
//	float64   dimension shifts and as many factors, unless the scaling is "none"
//	float32   rows×dimension features of the rows since the last anchor, row-major, scaled
//	float64   their targets
//	8 bytes   length of the learner
//	learner   as it was at the last anchor, in the format of polk.Learner.Save
//	32 bytes  SHA-256 of all that precedes
var magic = [8]byte{'P', 'O', 'L', 'K', 'O', 'W', 'N', 1}

const (
	maxHeader = 1 << 20
	maxModel  = 1 << 32 // bytes of a learner
)

// ErrFormat is wrapped by every error of Read that is due to the bytes
// themselves.
var ErrFormat = errors.New("online: not a whole model file")

type header struct {
	Settings
	Rows int64 `json:"rows"` // taken in all
	Tail int   `json:"tail"` // of these, since the last anchor
}

// Save writes the model to w.
func (m *Model) Save(w io.Writer) error {
	head, err := json.Marshal(header{m.settings, m.rows, len(m.y)})
	if err != nil {
		return err
	}
	if len(head) > maxHeader {
		return fmt.Errorf("online: the labels are too long for a model file: %d bytes", len(head))
	}
	sum := sha256.New()
	b := bufio.NewWriter(io.MultiWriter(w, sum))
	b.Write(magic[:])
	binary.Write(b, binary.LittleEndian, uint32(len(head)))
	b.Write(head)
	for _, part := range []any{m.scaling.shift, m.scaling.factor, m.x, m.y, uint64(m.anchor.Len())} {
		binary.Write(b, binary.LittleEndian, part)
	}
	b.Write(m.anchor.Bytes())
	if err := b.Flush(); err != nil { // holds the first error of all writes above
		return err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// Read reads what Save wrote. A damaged, truncated or newer file is an error,
// and can't make it allocate more than a small multiple of the bytes that are
// there, beside 16 bytes for every pair of the at most MaxOrder elements.
func Read(r io.Reader) (*Model, error) {
	sum := sha256.New()
	br := bufio.NewReader(r)
	d := decoder{io.TeeReader(br, sum)}
	m, err := d.model()
	if err != nil {
		return nil, err
	}
	want := sum.Sum(nil)
	got, err := d.bytes(len(want))
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(got, want) {
		return nil, fmt.Errorf("%w: its SHA-256 is %x, not the %x at its end", ErrFormat, want, got)
	}
	if _, err := br.ReadByte(); err != io.EOF {
		return nil, fmt.Errorf("%w: there are bytes after its end", ErrFormat)
	}
	return m, m.replay()
}

// replay loads the learner at the anchor and learns the rows since.
func (m *Model) replay() error {
	cfg, err := m.settings.config()
	if err != nil {
		return err
	}
	e, err := kernel.ReadExpansion(bytes.NewReader(m.anchor.Bytes()), nil)
	if err != nil {
		return err
	}
	if e.Order() > MaxOrder {
		return fmt.Errorf("%w: %d elements, more than %d", ErrFormat, e.Order(), MaxOrder)
	}
	if m.learner, err = polk.Load(bytes.NewReader(m.anchor.Bytes()), cfg); err != nil {
		return err
	}
	x, y, b, dim := m.x, m.y, m.settings.Batch, m.settings.Dim
	for m.done+b <= len(y) {
		m.x, m.y = x[:(m.done+b)*dim], y[:m.done+b]
		if err := m.step(); err != nil {
			return fmt.Errorf("%w: its rows can't be learned: %v", ErrFormat, err)
		}
	}
	m.x, m.y, m.seen = x, y, Prequential{}
	return nil
}

type decoder struct{ r io.Reader }

func (d decoder) model() (*Model, error) {
	h, err := d.header()
	if err != nil {
		return nil, err
	}
	m := &Model{settings: h.Settings, rows: h.Rows}
	if h.Scale != ScaleNone {
		if m.scaling.shift, err = readFloats[float64](d, h.Dim); err != nil {
			return nil, err
		}
		if m.scaling.factor, err = readFloats[float64](d, h.Dim); err != nil {
			return nil, err
		}
	}
	if m.x, err = readFloats[float32](d, h.Tail*h.Dim); err != nil {
		return nil, err
	}
	if m.y, err = readFloats[float64](d, h.Tail); err != nil {
		return nil, err
	}
	if err := m.checkTargets(); err != nil {
		return nil, err
	}
	return m, d.learner(&m.anchor)
}

// checkTargets reports targets that stand for no class.
func (m *Model) checkTargets() error {
	if m.settings.regression() {
		return nil
	}
	binaryLoss := m.outputs() == 1
	for _, y := range m.y {
		ok := y >= 0 && y < float64(len(m.settings.Labels)) && y == math.Trunc(y)
		if binaryLoss {
			ok = y == -1 || y == 1
		}
		if !ok {
			return fmt.Errorf("%w: it holds the target %v", ErrFormat, y)
		}
	}
	return nil
}

// header reads and checks the header.
func (d decoder) header() (h header, err error) {
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
	if err := h.validate(); err != nil {
		return h, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	if most := h.anchorBatches() * h.Batch; h.Tail < 0 || h.Tail >= most || h.Rows < int64(h.Tail) {
		return h, fmt.Errorf("%w: %d rows of %d", ErrFormat, h.Tail, h.Rows)
	}
	return h, nil
}

// learner copies the learner's bytes.
func (d decoder) learner(to *bytes.Buffer) error {
	b, err := d.bytes(8)
	if err != nil {
		return err
	}
	n := binary.LittleEndian.Uint64(b)
	if n > maxModel {
		return fmt.Errorf("%w: a learner of %d bytes", ErrFormat, n)
	}
	if _, err := io.CopyN(to, d.r, int64(n)); err != nil {
		return d.fail(err)
	}
	return nil
}

func (d decoder) bytes(n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(d.r, b); err != nil {
		return nil, d.fail(err)
	}
	return b, nil
}

func (d decoder) fail(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: it ends too early", ErrFormat)
	}
	return err
}

// readFloats reads n finite numbers, a few at a time, so that a lying header
// meets the end of the file before it has cost memory.
func readFloats[T float32 | float64](d decoder, n int) ([]T, error) {
	var out []T
	const chunk = 1 << 12
	for left := n; left > 0; {
		part := make([]T, min(left, chunk))
		if err := binary.Read(d.r, binary.LittleEndian, part); err != nil {
			return nil, d.fail(err)
		}
		for _, v := range part {
			if v-v != 0 {
				return nil, fmt.Errorf("%w: it holds the number %v", ErrFormat, v)
			}
		}
		out = append(out, part...)
		left -= len(part)
	}
	return out, nil
}
