package compare

import (
	"cmp"
	"math"
	"slices"

	"polkrepro/internal/words"
)

// A Sample is one run as a point of a trade-off: its cost, such as the model order, and its value,
// such as the error rate.
type Sample struct{ Cost, Value float64 }

// A Curve is the trade-off of one heuristic on one replicate: samples with positive, strictly
// ascending costs. Between two samples it is a straight line over the logarithm of the cost.
type Curve []Sample

// NewCurve returns the curve of runs in any order. It merges samples of equal cost into one with
// their mean value, and drops samples that are not finite or whose cost is not positive.
func NewCurve(samples []Sample) Curve {
	sorted := slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool {
		return !(s.Cost > 0 && words.Finite(s.Cost) && words.Finite(s.Value))
	})
	slices.SortStableFunc(sorted, func(a, b Sample) int { return cmp.Compare(a.Cost, b.Cost) })
	var c Curve
	for i := 0; i < len(sorted); {
		sum, first := 0.0, i
		for ; i < len(sorted) && sorted[i].Cost == sorted[first].Cost; i++ {
			sum += sorted[i].Value
		}
		c = append(c, Sample{sorted[first].Cost, sum / float64(i-first)})
	}
	return c
}

// At returns the value at a cost, and false outside of the curve's range.
func (c Curve) At(cost float64) (float64, bool) {
	i, exact := slices.BinarySearchFunc(c, cost, func(s Sample, x float64) int { return cmp.Compare(s.Cost, x) })
	switch {
	case exact:
		return c[i].Value, true
	case i == 0 || i == len(c):
		return 0, false
	}
	a, b := c[i-1], c[i]
	t := math.Log(cost/a.Cost) / math.Log(b.Cost/a.Cost)
	return a.Value + t*(b.Value-a.Value), true
}

// Bend estimates the interpolation error of a curve at a cost, positive where the straight line is
// too high. It is the quadratic term of Newton's interpolation with the next sample to the left or
// to the right, whichever term is larger in magnitude. It is 0 at samples, outside the range, and
// where there is no further sample.
func (c Curve) Bend(cost float64) float64 {
	i, exact := slices.BinarySearchFunc(c, cost, func(s Sample, x float64) int { return cmp.Compare(s.Cost, x) })
	if exact || i == 0 || i == len(c) {
		return 0
	}
	slope := func(a, b Sample) float64 { return (b.Value - a.Value) / math.Log(b.Cost/a.Cost) }
	weight := math.Log(cost/c[i-1].Cost) * math.Log(c[i].Cost/cost)
	bend := 0.0
	for first := max(0, i-2); first < i && first+2 < len(c); first++ {
		a, b, d := c[first], c[first+1], c[first+2]
		if term := weight * (slope(b, d) - slope(a, b)) / math.Log(d.Cost/a.Cost); math.Abs(term) > math.Abs(bend) {
			bend = term
		}
	}
	return bend
}
