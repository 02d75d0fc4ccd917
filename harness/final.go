package harness

import (
	"slices"

	"polkrepro/kernel"
	"polkrepro/record"
)

// modelFeatures is what a model may have to be put into the record.
const modelFeatures = 2

// drawableModel returns the model of a record, nil if it is too large or not
// finite.
func drawableModel(e *kernel.Expansion) *record.Model {
	if e == nil || e.Dict.Dim() > modelFeatures || e.Order() > record.MaxElements || slices.ContainsFunc(e.W, func(w float64) bool { return !finite(w) }) {
		return nil
	}
	m := &record.Model{Dim: e.Dict.Dim(), Outputs: e.Outputs, Weights: slices.Clone(e.W)}
	for j := range e.Order() {
		m.Dictionary = append(m.Dictionary, e.Dict.At(j)...)
	}
	return m
}
