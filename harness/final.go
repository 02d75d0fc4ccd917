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

// Average returns the final figures of a run of total samples: the means over
// the evaluations in the last 5 % of the processed samples, as the paper's
// tables have them. It panics if there is no point.
func Average(points []record.Point, total int) record.Final {
	last := points[len(points)-1]
	f := record.Final{Type: "final", Samples: last.Samples, KernelEvals: last.KernelEvals, Timing: last.Timing}
	var n float64
	for _, p := range points {
		if float64(p.Samples) > tailStart(total) {
			n++
			f.TrainRisk += p.TrainRisk
			f.TestRisk += p.TestRisk
			f.TestError += p.TestError
			f.ModelOrder += float64(p.ModelOrder)
		}
	}
	f.TrainRisk /= n
	f.TestRisk /= n
	f.TestError /= n
	f.ModelOrder /= n
	return f
}
