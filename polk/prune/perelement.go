package prune

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// PerElement keeps a value for each element from step to step, such as a running mean or a
// count. It identifies elements by their IDs, because their numbers change when removals reorder
// the dictionary. A pruner that embeds a PerElement is [Stateful] if New or NewInverse returns a
// pointer to the pruner. It must call Sync at the start of each Prune. T must have a fixed size
// in the sense of encoding/binary: a number, or an array or struct of numbers. The zero
// PerElement is ready for use.
type PerElement[T any] struct {
	values map[uint64]T
}

// Sync forgets the values of elements that have left.
func (p *PerElement[T]) Sync(s Elements) {
	kept := make(map[uint64]T, s.Len())
	for j := range s.Total() {
		if v, ok := p.values[s.ID(j)]; ok && s.Present(j) {
			kept[s.ID(j)] = v
		}
	}
	p.values = kept
}

// Value returns the value of element j, or the zero value if none has been set.
func (p *PerElement[T]) Value(s Elements, j int) T { return p.values[s.ID(j)] }

// SetValue sets the value of element j.
func (p *PerElement[T]) SetValue(s Elements, j int, v T) {
	if p.values == nil {
		p.values = make(map[uint64]T)
	}
	p.values[s.ID(j)] = v
}

// MarshalBinary returns the IDs and values of all elements, sorted by ID.
func (p *PerElement[T]) MarshalBinary() ([]byte, error) {
	var out bytes.Buffer
	for _, id := range slices.Sorted(maps.Keys(p.values)) {
		binary.Write(&out, binary.LittleEndian, id) // a Buffer returns no error
		if err := binary.Write(&out, binary.LittleEndian, p.values[id]); err != nil {
			return nil, fmt.Errorf("values of elements: %w", err)
		}
	}
	return out.Bytes(), nil
}

// UnmarshalBinary restores the values that MarshalBinary returned.
func (p *PerElement[T]) UnmarshalBinary(b []byte) error {
	var v T
	if size := binary.Size(v); size < 0 || len(b)%(8+size) != 0 {
		return fmt.Errorf("values of elements: %d bytes, want a multiple of %d", len(b), 8+size)
	}
	p.values = make(map[uint64]T)
	for r := bytes.NewReader(b); r.Len() > 0; {
		var id uint64
		if err := binary.Read(r, binary.LittleEndian, &id); err != nil {
			return err
		}
		if err := binary.Read(r, binary.LittleEndian, &v); err != nil {
			return err
		}
		if _, ok := p.values[id]; ok {
			return fmt.Errorf("values of elements: ID %d is a duplicate", id)
		}
		p.values[id] = v
	}
	return nil
}
