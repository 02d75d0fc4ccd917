package prune

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// PerElement keeps a value for each element from step to step: a running mean, a
// count. Elements have other numbers in each step, since the dictionary is reordered
// when some leave; their IDs stay. A pruner that embeds a PerElement is [Stateful] by
// it, if New or NewInverse returns a pointer, and must call Sync at the start of each
// Prune. T must have a fixed size as encoding/binary has it: a number, or an array or
// struct of numbers. The zero PerElement is ready for use.
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

// Value returns the value of element j, the zero value if it has been given none.
func (p *PerElement[T]) Value(s Elements, j int) T { return p.values[s.ID(j)] }

// SetValue gives element j a value.
func (p *PerElement[T]) SetValue(s Elements, j int, v T) {
	if p.values == nil {
		p.values = make(map[uint64]T)
	}
	p.values[s.ID(j)] = v
}

// MarshalBinary returns the values with the IDs of their elements, in this order.
func (p *PerElement[T]) MarshalBinary() ([]byte, error) {
	var out bytes.Buffer
	for _, id := range slices.Sorted(maps.Keys(p.values)) {
		binary.Write(&out, binary.LittleEndian, id) // a Buffer has no error
		if err := binary.Write(&out, binary.LittleEndian, p.values[id]); err != nil {
			return nil, fmt.Errorf("values of elements: %w", err)
		}
	}
	return out.Bytes(), nil
}

// UnmarshalBinary takes up what MarshalBinary returned.
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
