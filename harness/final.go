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
// tables have them, and the prequential figures and the reliability of the last one. It
// panics if there is no point.
func Average(points []record.Point, total int) record.Final {
	last := points[len(points)-1]
	f := record.Final{Type: "final", Samples: last.Samples, KernelEvals: last.KernelEvals, Timing: last.Timing}
	f.Prequential, f.Reliability = last.Prequential, last.Reliability
	var n, norm float64
	normed := true
	for _, p := range points {
		if float64(p.Samples) > tailStart(total) {
			n++
			if normed = normed && p.NormSq != nil; normed {
				norm += *p.NormSq
			}
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
	if normed {
		f.NormSq = new(norm / n)
	}
	return f
}
