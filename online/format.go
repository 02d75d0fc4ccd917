package online

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"polkrepro/data"
	"polkrepro/internal/modelfile"
	"polkrepro/kernel"
	"polkrepro/polk"
	"polkrepro/polk/prune"
)

// A model file is, in this order and little-endian:
//
//	8 bytes   the magic "POLKOWN" and the version of the format, 2
//	4 bytes   length of the header
//	header    JSON: the settings, the number of rows taken, and how many the file holds
//	float64   dimension shifts and as many factors, unless the scaling is "none"
//	float32   rows×dimension features of the rows since the last anchor, row-major, scaled
//	float64   their targets
//	8 bytes   length of the learner
//	learner   as it was at the last anchor, in the format of polk.Learner.Save
//	32 bytes  SHA-256 of all that precedes
//
// Version 1 had the Gaussian kernel only, and a model order where version 2
// has a pruner.
var magic = [8]byte{'P', 'O', 'L', 'K', 'O', 'W', 'N', 2}

const maxModel = 1 << 32 // bytes of a learner

// ErrFormat is wrapped by every error of Read that is due to the bytes
// themselves.
var ErrFormat = errors.New("online: not a whole model file")

var format = modelfile.Format{Magic: magic, Err: ErrFormat}

type header struct {
	Settings
	Rows int64 `json:"rows"` // taken in all
	Tail int   `json:"tail"` // of these, since the last anchor

	Unfinished *place `json:"unfinished,omitempty"`

	Order int `json:"order,omitempty"` // of version 1, which knew no pruner by name
}

// Save writes the model to w.
func (m *Model) Save(w io.Writer) error {
	h := header{Settings: m.settings, Rows: m.rows, Tail: len(m.y), Unfinished: m.place}
	return format.Write(w, h, func(w io.Writer) {
		for _, part := range []any{m.scaling.shift, m.scaling.factor, m.x, m.y, uint64(m.anchor.Len())} {
			binary.Write(w, binary.LittleEndian, part)
		}
		w.Write(m.anchor.Bytes())
	})
}

// Read reads what Save wrote. A damaged, truncated or newer file is an error,
// and can't make it allocate more than a small multiple of the bytes that are
// there, beside 16 bytes for every pair of the at most MaxOrder elements.
func Read(r io.Reader) (*Model, error) {
	var h header
	d, err := format.Open(r, &h)
	if err != nil {
		return nil, err
	}
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	m, err := h.model(d)
	if err != nil {
		return nil, err
	}
	if err := d.Close(); err != nil {
		return nil, err
	}
	return m, m.replay()
}

// replay loads the learner at the anchor and learns the rows since.
func (m *Model) replay() error {
	cfg, err := m.settings.config()
	if err != nil {
		return fmt.Errorf("%w: %v", ErrFormat, err)
	}
	e, err := kernel.ReadExpansion(bytes.NewReader(m.anchor.Bytes()), nil)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrFormat, err)
	}
	if most := m.settings.maxOrder(); e.Order() > most {
		return fmt.Errorf("%w: %d elements, more than %d", ErrFormat, e.Order(), most)
	}
	if m.learner, err = polk.Load(bytes.NewReader(m.anchor.Bytes()), cfg); err != nil {
		return fmt.Errorf("%w: %v", ErrFormat, err)
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

// model reads what follows the header.
func (h *header) model(d *modelfile.Reader) (m *Model, err error) {
	m = &Model{settings: h.Settings, rows: h.Rows, place: h.Unfinished}
	if h.Scale != ScaleNone {
		if m.scaling.shift, err = modelfile.Floats[float64](d, h.Dim); err != nil {
			return nil, err
		}
		if m.scaling.factor, err = modelfile.Floats[float64](d, h.Dim); err != nil {
			return nil, err
		}
	}
	if m.x, err = modelfile.Floats[float32](d, h.Tail*h.Dim); err != nil {
		return nil, err
	}
	if m.y, err = modelfile.Floats[float64](d, h.Tail); err != nil {
		return nil, err
	}
	if err := m.checkTargets(); err != nil {
		return nil, err
	}
	n, err := d.Uint64()
	if err != nil {
		return nil, err
	}
	if n > maxModel {
		return nil, fmt.Errorf("%w: a learner of %d bytes", ErrFormat, n)
	}
	return m, d.Copy(&m.anchor, int64(n))
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

// check completes the header of an older version and reports what makes no
// sense.
func (h *header) check() error {
	h.Kernel, h.Pruner = cmp.Or(h.Kernel, KernelGaussian), cmp.Or(h.Pruner, prune.KOMP)
	if h.Order > 0 {
		h.Pruner, h.PrunerParams = prunerOrder, prune.Params{"order": float64(h.Order)}
	}
	if err := h.validate(); err != nil {
		return err
	}
	if most := h.anchorBatches() * h.Batch; h.Tail < 0 || h.Tail >= most || h.Rows < int64(h.Tail) {
		return fmt.Errorf("%d rows of %d", h.Tail, h.Rows)
	}
	if p := h.Unfinished; p != nil && (p.Pass < 0 || p.Pass >= p.Epochs || p.Rows < 0) {
		return fmt.Errorf("row %d of pass %d of %d", p.Rows, p.Pass+1, p.Epochs)
	} else if p != nil && !slices.Contains([]string{"", data.FormatCSV, data.FormatLIBSVM}, p.Format) {
		return fmt.Errorf("rows of format %.20q", p.Format)
	}
	return nil
}
