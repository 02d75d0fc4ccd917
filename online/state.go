package online

import (
	"bytes"
	"io"
	"slices"

	"polkrepro/kernel"
)

// A trainingState is what training goes on from: a learner, and the rows that wait
// for their mini-batch to fill. It is the model's present, but for one that has
// learned these rows as a smaller mini-batch, because its training has ended, or
// whose learner is elsewhere.
type trainingState struct {
	x []float32 // the rows that wait, scaled
	y []float64 // their targets

	// The learner's functions: where each element is among those of the model's
	// functions, those that are elsewhere, and the weights.
	places  []uint32
	missing []float32
	w       []float64

	size  int64 // of the learner's state
	write func(io.Writer) error
}

// present is what training goes on from while it has not ended. It is valid until
// the model changes.
func (m *Model) present() (*trainingState, error) {
	size, err := m.learner.StateSize()
	if err != nil {
		return nil, err
	}
	p := &trainingState{x: m.x, y: m.y, places: make([]uint32, m.f.Order()), w: m.f.W, size: size, write: m.learner.WriteState}
	for j := range p.places {
		p.places[j] = uint32(j)
	}
	return p, nil
}

// A snapshot is a model of some time, which stays valid while its learner goes on.
type snapshot struct {
	trainingState
	functions functions // a copy
	ids       []uint64  // of their elements, in the learner's dictionary
	rows      int64
}

// snapshot takes one of the model without the last rows that wait.
func (m *Model) snapshot(without int) (*snapshot, error) {
	p, err := m.present()
	if err != nil {
		return nil, err
	}
	var state bytes.Buffer
	state.Grow(int(p.size) + bytes.MinRead)
	if err := p.write(&state); err != nil {
		return nil, err
	}
	p.write = func(w io.Writer) error {
		_, err := w.Write(state.Bytes())
		return err
	}
	wait := len(p.y) - without
	p.x, p.y, p.w = slices.Clone(p.x[:wait*m.settings.Dim]), slices.Clone(p.y[:wait]), slices.Clone(p.w)
	s := &snapshot{trainingState: *p, rows: m.rows - int64(without), ids: make([]uint64, m.f.Order())}
	s.functions = functions{m.f.Kernel, make([][]float32, m.f.Order()), p.w}
	for j := range s.ids {
		s.ids[j], s.functions.x[j] = m.f.Dict.ID(j), slices.Clone(m.f.Dict.At(j))
	}
	return s, nil
}

// rewind makes the model what it was. Its learner is elsewhere by now, so that the
// model has ended.
func (m *Model) rewind(s *snapshot) {
	m.f = s.functions.expansion(m.settings.Dim, m.outputs())
	m.before, m.rows = &s.trainingState, s.rows
	m.x, m.y, m.row = nil, nil, nil
	m.scorer = kernel.Scorer{}
	m.ended = true
}

// learnLast learns rows that do not fill their mini-batch, and keeps what was
// before it.
func (m *Model) learnLast() error {
	s, err := m.snapshot(0)
	if err != nil {
		return err
	}
	if err := m.judgeAndStep(); err != nil {
		return err
	}
	at := make(map[uint64]uint32, m.f.Order())
	for j := range m.f.Order() {
		at[m.f.Dict.ID(j)] = uint32(j)
	}
	for j, id := range s.ids {
		place, ok := at[id]
		if !ok {
			place = elsewhere
			s.missing = append(s.missing, s.functions.x[j]...)
		}
		s.places[j] = place
	}
	m.before = &s.trainingState
	return nil
}
