package harness

import (
	"slices"

	"polkrepro/kernel"
	"polkrepro/record"
)

// modelFeatures is the maximum number of features of a model that is stored in a record.
const modelFeatures = 2

// drawableModel returns a model as a record stores it, or nil if the model is not a
// kernel expansion, is too large or has non-finite weights.
func drawableModel(m kernel.Model) *record.Model {
	e, ok := m.(*kernel.Expansion)
	if !ok || e.Dict.Dim() > modelFeatures || e.Order() > record.MaxElements || slices.ContainsFunc(e.W, func(w float64) bool { return !finite(w) }) {
		return nil
	}
	out := &record.Model{Dim: e.Dict.Dim(), Outputs: e.Outputs, Weights: slices.Clone(e.W)}
	for i, w := range out.Weights {
		out.Weights[i] = record.Digits(w, 8)
	}
	for j := range e.Order() {
		out.Dictionary = append(out.Dictionary, e.Dict.At(j)...)
	}
	return out
}
