package kernel

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"polkrepro/internal/modelfile"
)

// A saved expansion is, in this order and little-endian:
//
//	8 bytes   the magic "POLKMDL" and the version of the format, 1
//	4 bytes   length of the header
//	header    JSON: kernel, dimension, outputs, order, and the caller's meta data
//	float32   order×dimension dictionary, row-major
//	float64   order×outputs weights, row-major
//	32 bytes  SHA-256 of all preceding bytes
var magic = [8]byte{'P', 'O', 'L', 'K', 'M', 'D', 'L', 1}

// Limits on the sizes in a file's header, so that ReadExpansion can't be made to
// allocate too much. Dictionary panels are as wide as a vector register however few
// elements there are, so a single long element takes a hundred times its size.
const (
	maxDim     = 1 << 20
	maxOutputs = 1 << 20
	maxOrder   = 1 << 31
)

// ErrFormat is wrapped by every error of ReadExpansion that is caused by the data itself.
var ErrFormat = errors.New("kernel: saved model is incomplete or corrupt")

var format = modelfile.Format{Magic: magic, Err: ErrFormat}

type header struct {
	Kernel  Spec            `json:"kernel"`
	Dim     int             `json:"dim"`
	Outputs int             `json:"outputs"`
	Order   int             `json:"order"`
	Meta    json.RawMessage `json:"meta,omitempty"`
}

// Write saves e to w together with meta, any value that encodes to JSON. It returns
// an error if writing or encoding fails, if the kernel type is not registered with
// [Register], or if e is larger than [ReadExpansion] accepts.
func (e *Expansion) Write(w io.Writer, meta any) error {
	var err error
	h := header{Dim: e.Dict.Dim(), Outputs: e.Outputs, Order: e.Order()}
	if h.validate() != nil {
		return fmt.Errorf("kernel: model too large to save: %d elements of dimension %d with %d outputs", h.Order, h.Dim, h.Outputs)
	}
	if h.Kernel, err = specOf(e.Kernel); err != nil {
		return err
	}
	if h.Meta, err = json.Marshal(meta); err != nil {
		return err
	}
	return format.Write(w, h, func(w io.Writer) {
		for i := range e.Order() {
			binary.Write(w, binary.LittleEndian, e.Dict.At(i))
		}
		binary.Write(w, binary.LittleEndian, e.W)
	})
}

// ReadExpansion reads the output of Write and decodes the meta data into meta, if
// that is not nil. It returns an error if the data is corrupt, truncated or of a
// newer version, or if there are more than 2²⁰ features or outputs. It allocates at
// most a small multiple of the bytes present, plus 400 bytes per feature.
func ReadExpansion(r io.Reader, meta any) (*Expansion, error) {
	var h header
	d, err := format.Open(r, &h)
	if err != nil {
		return nil, err
	}
	if err := h.validate(); err != nil {
		return nil, err
	}
	k, err := h.Kernel.Kernel()
	if err == nil {
		err = k.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	e := NewExpansion(k, h.Dim, h.Outputs)
	x, err := modelfile.Rows[float32](d, h.Order, h.Dim)
	if err != nil {
		return nil, err
	}
	if e.W, err = modelfile.Floats[float64](d, h.Order*h.Outputs); err != nil {
		return nil, err
	}
	e.Dict.Reserve(len(x))
	for _, row := range x {
		e.Dict.Append(row)
	}
	if err := d.Close(); err != nil {
		return nil, err
	}
	if meta != nil {
		if err := json.Unmarshal(h.Meta, meta); err != nil {
			return nil, fmt.Errorf("%w: %v", ErrFormat, err)
		}
	}
	return e, nil
}

// validate returns an error if no expansion can have these sizes.
func (h *header) validate() error {
	if h.Dim < 1 || h.Outputs < 1 || h.Order < 0 || h.Dim > maxDim || h.Outputs > maxOutputs || int64(h.Order) > maxOrder ||
		int64(h.Order)*int64(max(h.Dim, h.Outputs)) > math.MaxInt/8 { // more than a 32-bit program can index
		return fmt.Errorf("%w: %d elements of dimension %d with %d outputs", ErrFormat, h.Order, h.Dim, h.Outputs)
	}
	return nil
}
