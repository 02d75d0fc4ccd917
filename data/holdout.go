package data

import (
	"math"
	"slices"
)

// streamHoldout is the random stream of Holdout.
const streamHoldout = 0x686f6c646f7574

// Holdout splits the N training examples of a data set in two. round(fraction·N)
// examples, drawn without replacement, become the new set's Test; the rest become
// its Train. Both keep their order. Holdout does not use the test part of s, so
// hyper-parameters may be chosen on the new set. The same seed draws the same examples
// on every platform. Rows are copied; Sums and Facts are those of s.
//
// It panics if fraction is not between 0 and 1 or if one of the parts would be
// empty.
func Holdout(s *Set, fraction float64, seed uint64) *Set {
	held, kept := heldOut(s.Train.N, fraction, seed)
	if len(held) == 0 || len(kept) == 0 {
		panic("data: Holdout: a part would be empty")
	}
	out := *s
	out.Test, out.Train = s.Train.pick(held), s.Train.pick(kept)
	return &out
}

// heldOut draws round(fraction·n) of n examples without replacement. It returns their
// indices and the remaining indices, both ascending.
func heldOut(n int, fraction float64, seed uint64) (held, kept []int) {
	order := newSource(seed, streamHoldout).permutation(n)
	size := min(int(math.Round(float64(fraction*float64(n)))), n)
	slices.Sort(order[:size])
	slices.Sort(order[size:])
	return order[:size], order[size:]
}

// pick copies the examples at the given indices.
func (s *Split) pick(indices []int) *Split {
	out := *s
	out.N = len(indices)
	out.X = make([]float32, 0, len(indices)*s.Dim)
	out.Y = make([]float64, 0, len(indices))
	for _, i := range indices {
		out.X = append(out.X, s.Row(i)...)
		out.Y = append(out.Y, s.Y[i])
	}
	return &out
}
