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

	"polkrepro/data/rows"
	"polkrepro/internal/modelfile"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// A model file is, in this order and little-endian:
//
//	8 bytes   the magic "POLKOWN" and the version of the format, 3
//	4 bytes   length of the header
//	header    JSON: the settings, the number of rows taken, and the sizes of the parts below
//
// For prediction:
//
//	float64   dimension shifts and as many factors, unless the scaling is "none"
//	float32   elements×dimension dictionary of the functions that predict, row-major
//	float64   elements×outputs weights
//
// For continuing the training, bit for bit:
//
//	float32   tail×dimension scaled features of the rows that wait for their mini-batch
//	float64   targets of these rows
//	float64   weights of these rows, if the header says that they are weighted
//	uint32    for each element of the functions that training continues from, its
//	          position in the dictionary above, or 2³²−1 if it is not there
//	float32   the elements that are not there
//	float64   weights of the functions that training continues from
//	8 bytes   length of the state
//	state     of the learner, in the format of polk.Learner.WriteState
//	float64   dimension lowest values of the features that are no drift, and as many
//	          highest ones, if the header says that a stream is watched
//
// At the end:
//
//	32 bytes  SHA-256 of all bytes before
//
// A file for prediction only has a state of 0 bytes and nothing else between the weights and the
// SHA-256.
//
// The functions that predict and those that training continues from are the same,
// unless training has ended with rows that did not fill their mini-batch. The former
// have learned these rows; in the latter they still wait for more rows.
var magic = [8]byte{'P', 'O', 'L', 'K', 'O', 'W', 'N', 3}

// ErrFormat is wrapped by every error of Read that is due to the contents of the
// file.
var ErrFormat = errors.New("online: incomplete or corrupt model file")

// ErrPrediction is the error of Read for a file that SaveForPrediction wrote.
var ErrPrediction = errors.New("online: the model was exported for prediction, without what training needs: train the model file that it was exported from")

var format = modelfile.Format{Magic: magic, Err: ErrFormat}

// elsewhere is the position of an element that the functions that predict lack.
const elsewhere = math.MaxUint32

// header is the header of a model file.
type header struct {
	Settings
	Rows int64 `json:"rows"` // number of rows taken in all
	Tail int   `json:"tail"` // number of these rows that are in the file, waiting for their mini-batch

	Elements int `json:"elements"` // number of elements of the functions that predict
	Before   int `json:"before"`   // number of elements of the functions that training continues from
	Missing  int `json:"missing"`  // number of these elements that the functions that predict lack

	Unfinished *checkpoint `json:"unfinished,omitempty"`

	Weighted bool `json:"weighted,omitempty"` // whether the waiting rows have weights other than 1
	Watched  bool `json:"watched,omitempty"`  // whether the features of a stream are watched for drift

	Names *rows.Names `json:"names,omitempty"` // names in the header of the training data

	PredictionOnly bool `json:"prediction_only,omitempty"` // whether the file ends after the part for prediction, with a state of 0 bytes
}

// Save writes the model to w.
func (m *Model) Save(w io.Writer) error {
	if m.learner == nil {
		return errors.New("online: the model was read for prediction, without the state that training needs")
	}
	p := m.before
	if p == nil {
		p = &before{places: make([]uint32, m.Order())}
		for j := range p.places {
			p.places[j] = uint32(j)
		}
	}
	h := header{
		Settings: m.settings, Rows: m.rows, Tail: len(m.y), Unfinished: m.checkpoint, Names: m.names,
		Elements: m.Order(), Before: len(p.places), Missing: len(p.missing) / m.settings.Dim, Watched: m.drift != nil,
		Weighted: slices.ContainsFunc(m.w, func(w float64) bool { return w != 1 }),
	}
	var weights []float64
	if h.Weighted {
		weights = m.w
	}
	m.functions()
	var state error
	err := format.Write(w, h, func(w io.Writer) {
		m.writeFunctions(w)
		for _, part := range []any{m.x, m.y, weights, p.places, p.missing} {
			binary.Write(w, binary.LittleEndian, part)
		}
		if p.state != nil {
			w.Write(p.state)
		} else {
			state = m.writeState(w)
		}
		if m.drift != nil {
			binary.Write(w, binary.LittleEndian, m.drift.low)
			binary.Write(w, binary.LittleEndian, m.drift.high)
		}
	})
	return cmp.Or(err, state)
}

// SaveForPrediction writes the model without what only training needs. Read refuses the file.
func (m *Model) SaveForPrediction(w io.Writer) error {
	h := header{Settings: m.settings, Rows: m.rows, Elements: m.functions().Order(), Names: m.names, PredictionOnly: true}
	return format.Write(w, h, func(w io.Writer) {
		m.writeFunctions(w)
		binary.Write(w, binary.LittleEndian, uint64(0))
	})
}

// writeFunctions writes the scaling and the functions that predict.
func (m *Model) writeFunctions(w io.Writer) {
	put := func(part any) { binary.Write(w, binary.LittleEndian, part) }
	put(m.scaling.Shift)
	put(m.scaling.Factor)
	for j := range m.f.Order() {
		put(m.f.Dict.At(j))
	}
	put(m.f.W)
}

// writeState writes the weights of the functions that training continues from, and the
// state of the learner.
func (m *Model) writeState(w io.Writer) error {
	size, err := m.learner.StateSize()
	if err != nil {
		return err
	}
	if b, ok := w.(*bytes.Buffer); ok { // doubling would take several times the size
		b.Grow(8*len(m.f.W) + 8 + int(size) + bytes.MinRead)
	}
	binary.Write(w, binary.LittleEndian, m.f.W)
	binary.Write(w, binary.LittleEndian, uint64(size))
	return m.learner.WriteState(w)
}

// Read reads a model that Save wrote, for further training. It takes the time of
// reading and of computing the kernel matrix of the dictionary. A file that is corrupt,
// truncated or of another version is an error, and makes Read allocate at most a small
// multiple of the file's size.
func Read(r io.Reader) (*Model, error) { return read(r, true) }

// ReadForPrediction reads a model that Save or SaveForPrediction wrote, for prediction and evaluation.
// If its training has ended, the model has learned all rows, including those that
// did not fill a mini-batch. Nothing is computed, and memory holds only the
// dictionary and the weights. The model can neither be trained nor saved.
func ReadForPrediction(r io.Reader) (*Model, error) { return read(r, false) }

// read reads a model, for training or for prediction alone.
func read(r io.Reader, train bool) (*Model, error) {
	var h header
	file, err := format.Open(r, &h)
	if err != nil {
		return nil, err
	}
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	if train && h.PredictionOnly {
		return nil, ErrPrediction
	}
	m := &Model{settings: h.Settings, rows: h.Rows, checkpoint: h.Unfinished, names: h.Names}
	m.ended = !train || h.Exact && h.Unfinished == nil // the exact weights know the waiting rows
	m.loss, _ = loss.ByName(h.Loss)                    // check has found this loss
	k, err := h.kernel()
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	d := &parts{Reader: file}
	if h.Scale != rows.ScaleNone {
		m.scaling.Shift, m.scaling.Factor = floats[float64](d, h.Dim), floats[float64](d, h.Dim)
	}
	m.f = kernel.NewExpansion(k, h.Dim, m.outputs())
	x := d.elements(h.Elements, h.Dim)
	m.f.W = floats[float64](d, h.Elements*m.outputs())
	if train {
		err = m.readTraining(d, &h, x)
	} else {
		fill(m.f.Dict, x)
		err = m.skipTraining(d, &h)
	}
	if err = cmp.Or(d.err, err); err != nil {
		return nil, err
	}
	return m, d.Close()
}

// parts reads the parts of a model file, until the first error.
type parts struct {
	*modelfile.Reader
	err error
}

// floats reads n numbers. There are none after an error.
func floats[T float32 | float64 | uint32 | uint64](d *parts, n int) (v []T) {
	if d.err == nil {
		v, d.err = modelfile.Floats[T](d.Reader, n)
	}
	return v
}

// elements reads n elements.
func (d *parts) elements(n, dim int) (x [][]float32) {
	if d.err == nil {
		x, d.err = modelfile.Rows[float32](d.Reader, n, dim)
	}
	return x
}

// stateSize reads the number of bytes of the learner's state.
func (d *parts) stateSize() int64 {
	size := floats[uint64](d, 1)
	if d.err == nil && size[0] > maxState {
		d.err = fmt.Errorf("%w: a state of %d bytes", ErrFormat, size[0])
	}
	if d.err != nil {
		return 0
	}
	return int64(size[0])
}

// fill adds all of x to an empty dictionary.
func fill(dict *kernel.Points, x [][]float32) {
	dict.Reserve(len(x))
	for _, v := range x {
		dict.Append(v)
	}
}

// skipTraining skips the part of the file that only training needs.
func (m *Model) skipTraining(d *parts, h *header) error {
	rows, before := int64(h.Tail)*int64(4*h.Dim+8), int64(h.Before)*int64(4+8*m.outputs())
	if h.Weighted {
		rows += 8 * int64(h.Tail)
	}
	if d.err == nil {
		d.err = d.Copy(io.Discard, rows+before+int64(h.Missing)*int64(4*h.Dim))
	}
	size := d.stateSize()
	if h.Watched {
		size += 16 * int64(h.Dim)
	}
	return cmp.Or(d.err, d.Copy(io.Discard, size))
}

// readTraining reads the part of the file that only training needs. x holds the elements
// of the functions that predict.
func (m *Model) readTraining(d *parts, h *header, x [][]float32) (err error) {
	m.x, m.y = floats[float32](d, h.Tail*h.Dim), floats[float64](d, h.Tail)
	m.w = slices.Repeat([]float64{1}, h.Tail)
	if h.Weighted {
		m.w = floats[float64](d, h.Tail)
	}
	before := d.before(h, x)
	w := floats[float64](d, h.Before*m.outputs())
	size := d.stateSize()
	if d.err == nil {
		d.err = m.checkWaiting()
	}
	if d.err != nil {
		return d.err
	}
	fill(m.f.Dict, before)
	m.f.W = w
	if m.learner, err = m.restore(d.Section(size), h); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	m.f = m.learner.Expansion()
	if steps := int64(m.learner.Steps()); steps > maxRows/int64(h.Batch) || h.Rows != steps*int64(h.Batch)+int64(h.Tail) {
		return fmt.Errorf("%w: %d rows, %d of them waiting, after %d steps of %d", ErrFormat, h.Rows, h.Tail, steps, h.Batch)
	}
	if h.Watched {
		low, high := floats[float64](d, h.Dim), floats[float64](d, h.Dim)
		m.drift = watch(low, high)
	}
	return d.err
}

// restore reads the learner, whose functions are those of the model.
func (m *Model) restore(r io.Reader, h *header) (learner, error) {
	if m.settings.Recursive != nil {
		return restoreRecursive(m.f, r, &m.settings, int(h.Rows))
	}
	cfg, err := m.settings.config()
	if err != nil {
		return nil, err
	}
	return polk.Restore(m.f, r, cfg)
}

// before reads the elements of the functions that training continues from. x holds the
// elements of the functions that predict.
func (d *parts) before(h *header, x [][]float32) [][]float32 {
	places, missing := floats[uint32](d, h.Before), d.elements(h.Missing, h.Dim)
	before, used := make([][]float32, len(places)), make([]bool, len(x))
	for j, at := range places {
		switch {
		case d.err != nil:
		case at < uint32(len(x)) && !used[at]: // a repeated position could make a small file allocate a lot
			before[j], used[at] = x[at], true
		case at == elsewhere && len(missing) > 0:
			before[j], missing = missing[0], missing[1:]
		default:
			d.err = fmt.Errorf("%w: an element at place %d of %d", ErrFormat, at, len(x))
		}
	}
	if d.err == nil && len(missing) > 0 {
		d.err = fmt.Errorf("%w: %d elements too many", ErrFormat, len(missing))
	}
	return before
}

// checkWaiting returns an error if the target of a waiting row denotes no class, or its weight is none.
func (m *Model) checkWaiting() error {
	for i, y := range m.y {
		ok := y >= 0 && y < float64(len(m.settings.Labels)) && y == math.Trunc(y)
		if m.outputs() == 1 {
			ok = y == -1 || y == 1
		}
		if !ok && !m.settings.regression() {
			return fmt.Errorf("%w: target %v", ErrFormat, y)
		}
		if w := m.w[i]; !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("%w: weight %v", ErrFormat, w)
		}
	}
	return nil
}

// maxState bounds the bytes of a learner's state.
const maxState = 1 << 32

// maxRows bounds the number of rows: counting one by one never reaches it.
const maxRows = 1 << 53

// check returns an error if a header is invalid.
func (h *header) check() error {
	if err := h.validate(); err != nil {
		return err
	}
	if h.Tail < 0 || h.Tail >= h.Batch || h.Rows < int64(h.Tail) || h.Rows > maxRows {
		return fmt.Errorf("%d rows of %d", h.Tail, h.Rows)
	}
	// The last step may exceed the largest order by up to a mini-batch.
	if most := h.maxOrder() + h.Batch; h.Elements < 0 || h.Elements > most || h.Before < 0 || h.Before > most || h.Missing < 0 || h.Missing > h.Before {
		return fmt.Errorf("%d elements, %d before and %d of these missing, more than %d", h.Elements, h.Before, h.Missing, most)
	}
	if h.PredictionOnly && (h.Tail > 0 || h.Before > 0 || h.Missing > 0 || h.Unfinished != nil) {
		return errors.New("a model for prediction only, with parts for training")
	}
	if p := h.Unfinished; p != nil && (p.Pass < 0 || p.Pass >= p.Epochs || p.Rows < 0) {
		return fmt.Errorf("row %d of pass %d of %d", p.Rows, p.Pass+1, p.Epochs)
	} else if p != nil && !slices.Contains([]string{"", rows.HeaderYes, rows.HeaderNo}, p.Header) {
		return fmt.Errorf("header %.20q", p.Header)
	}
	return nil
}
