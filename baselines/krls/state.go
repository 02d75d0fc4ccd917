package krls

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"polkrepro/internal/modelfile"
)

// A learner's state is everything that it needs to continue bit for bit. For an order M it holds,
// in this order and little-endian:
//
//	8 bytes   the magic "KRLSSTA" and the version of the format, 1
//	4 bytes   length of the header
//	header    JSON: noise, sizes and counters
//	float32   M×p: the dictionary
//	uint32    M: for each row of L, the position of its element in the dictionary
//	float64   M: v
//	float64   M: the diagonal of K⁻¹, if there is a budget
//	float64   M·(M+1)/2: the lower triangle of L, row by row
//	float64   M·(M+1)/2: the lower triangle of P
//	32 bytes  SHA-256 of all preceding bytes
var stateFormat = modelfile.Format{Magic: [8]byte{'K', 'R', 'L', 'S', 'S', 'T', 'A', 1}, Err: ErrState}

// ErrState is wrapped by the errors of Restore that report an incomplete or malformed state, or a
// wrong checksum.
var ErrState = errors.New("krls: saved state is incomplete or corrupt")

// stateHeader is the header of a state.
type stateHeader struct {
	Noise    float64 `json:"noise"`
	Dim      int     `json:"dim"`
	Order    int     `json:"order"`
	Budgeted bool    `json:"budgeted"` // whether there is a budget

	KernelEvals int64   `json:"kernel_evals"`
	Entered     int     `json:"entered"`
	Left        int     `json:"left"`
	Spare       int     `json:"spare"`
	Negative    int     `json:"negative"`
	Drift       float64 `json:"drift"`
	Next        int     `json:"next"`
}

func (l *Learner) state() stateHeader {
	return stateHeader{
		Noise: l.cfg.Noise, Dim: l.cfg.Dim, Order: l.l.n, Budgeted: l.cfg.Budget > 0,
		KernelEvals: l.m.Evals, Entered: l.entered, Left: l.left, Spare: l.spare, Negative: l.negative, Drift: l.drift, Next: l.next,
	}
}

// StateSize returns the number of bytes that WriteState writes: about 8·M² for M elements.
func (l *Learner) StateSize() (int64, error) {
	head, err := json.Marshal(l.state())
	m := int64(l.l.n)
	return modelfile.Size(len(head), m*int64(4*l.cfg.Dim+12)+8*int64(len(l.diag))+8*m*(m+1)), err
}

// WriteState writes everything that the learner needs to continue, dictionary included. [Restore]
// makes of it a learner that continues bit for bit like this one.
func (l *Learner) WriteState(w io.Writer) error {
	return stateFormat.Write(w, l.state(), func(w io.Writer) {
		put := func(part any) { binary.Write(w, binary.LittleEndian, part) }
		for i := range l.m.F.Order() {
			put(l.m.F.Dict.At(i))
		}
		for _, at := range l.place {
			put(uint32(at))
		}
		put(l.v)
		put(l.diag)
		for _, q := range []*square{&l.l, &l.p} {
			for i := range q.n {
				put(q.row(i)[:i+1])
			}
		}
	})
}

// Restore returns the learner whose state, written by WriteState, is read from r. The configuration
// is not saved. Its kernel, dimension and noise must be those of the saved learner, and it must
// have a budget, at least the saved order, if and only if that had one. A corrupt state is an
// error, and makes Restore allocate at most a small multiple of its size.
func Restore(c Config, r io.Reader) (*Learner, error) {
	l, err := New(c)
	if err != nil {
		return nil, err
	}
	var h stateHeader
	d, err := stateFormat.Open(r, &h)
	if err != nil {
		return nil, err
	}
	if err := h.check(c); err != nil {
		return nil, err
	}
	if err := l.read(d, h); err != nil {
		return nil, err
	}
	l.m.Evals, l.entered, l.left, l.spare, l.negative, l.drift, l.next = h.KernelEvals, h.Entered, h.Left, h.Spare, h.Negative, h.Drift, h.Next
	l.stale = true
	return l, d.Close()
}

// check reports a state that does not match the configuration.
func (h *stateHeader) check(c Config) error {
	switch {
	case h.Noise != c.Noise || h.Dim != c.Dim || h.Budgeted != (c.Budget > 0):
		return fmt.Errorf("krls: the saved learner has noise %v, dimension %d and a budget: %v, not %v, %d and %v",
			h.Noise, h.Dim, h.Budgeted, c.Noise, c.Dim, c.Budget > 0)
	case c.Budget > 0 && h.Order > c.Budget:
		return fmt.Errorf("krls: the saved learner has %d elements, and the budget is %d", h.Order, c.Budget)
	case h.Order < 0 || h.Next < 0 || h.Next > h.Order || h.KernelEvals < 0 || h.Left < 0:
		return fmt.Errorf("%w: order %d, next %d, %d kernel evaluations, %d removals", ErrState, h.Order, h.Next, h.KernelEvals, h.Left)
	}
	return nil
}

// read reads the body of a state into an empty learner.
func (l *Learner) read(d *modelfile.Reader, h stateHeader) error {
	x, err := modelfile.Rows[float32](d, h.Order, h.Dim)
	if err != nil {
		return err
	}
	place, err := modelfile.Floats[uint32](d, h.Order)
	if err != nil {
		return err
	}
	if l.v, err = modelfile.Floats[float64](d, h.Order); err != nil {
		return err
	}
	if h.Budgeted {
		if l.diag, err = modelfile.Floats[float64](d, h.Order); err != nil {
			return err
		}
	}
	for i, at := range place {
		if int(at) >= h.Order || slices.Contains(l.place, int(at)) {
			return fmt.Errorf("%w: element %d of %d at place %d", ErrState, i, h.Order, at)
		}
		l.place = append(l.place, int(at))
		l.m.F.Append(x[i], l.m.Scores)
	}
	for _, q := range []*square{&l.l, &l.p} {
		for i := range h.Order {
			row, err := modelfile.Floats[float64](d, i+1)
			if err != nil {
				return err
			}
			if !(row[i] > 0) {
				return fmt.Errorf("%w: diagonal element %v", ErrState, row[i])
			}
			q.enlarge(l.cfg.Budget)
			copy(q.row(i), row)
		}
	}
	for i := range h.Order { // both triangles of P
		for j := range i {
			l.p.row(j)[i] = l.p.row(i)[j]
		}
	}
	return nil
}
