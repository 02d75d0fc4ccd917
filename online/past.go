package online

import (
	"bytes"
	"io"
	"slices"
)

// A past is what training goes on from: a learner, and the rows that wait for
// their mini-batch to fill. It is the model's present, but for one that has
// learned these rows as a smaller mini-batch, because its training has ended.
type past struct {
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
func (m *Model) present() (*past, error) {
	size, err := m.learner.StateSize()
	if err != nil {
		return nil, err
	}
	p := &past{x: m.x, y: m.y, places: make([]uint32, m.f.Order()), w: m.f.W, size: size, write: m.learner.WriteState}
	for j := range p.places {
		p.places[j] = uint32(j)
	}
	return p, nil
}

// finish does the step of Finish, and keeps what was before it.
func (m *Model) finish() error {
	p, err := m.present()
	if err != nil {
		return err
	}
	var state bytes.Buffer
	state.Grow(int(p.size) + bytes.MinRead)
	if err := p.write(&state); err != nil {
		return err
	}
	p.write = func(w io.Writer) error {
		_, err := w.Write(state.Bytes())
		return err
	}
	p.x, p.y, p.w = slices.Clone(p.x), slices.Clone(p.y), slices.Clone(p.w)
	ids, dim := make([]uint64, m.f.Order()), m.settings.Dim
	dictionary := make([]float32, 0, len(ids)*dim)
	for j := range ids {
		ids[j] = m.f.Dict.ID(j)
		dictionary = append(dictionary, m.f.Dict.At(j)...)
	}
	if err := m.step(); err != nil {
		return err
	}
	at := make(map[uint64]uint32, m.f.Order())
	for j := range m.f.Order() {
		at[m.f.Dict.ID(j)] = uint32(j)
	}
	for j, id := range ids {
		place, ok := at[id]
		if !ok {
			place = elsewhere
			p.missing = append(p.missing, dictionary[j*dim:(j+1)*dim]...)
		}
		p.places[j] = place
	}
	m.past = p
	return nil
}
