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
// on every platform. Rows are copied, but not those of a user's file; Sums and Facts are those of s.
//
// It panics if fraction is not between 0 and 1 or if one of the parts would be
// empty.
func Holdout(s *Set, fraction float64, seed uint64) *Set {
	return s.divided(heldOut(s.Train.N, fraction, seed))
}

// HoldoutLast is Holdout of the last round(fraction·N) examples in place of drawn ones.
func HoldoutLast(s *Set, fraction float64) *Set {
	return s.divided(lastOf(s.Train.N, fraction))
}

// divided returns the set with the given training examples as its Test, and the others as its Train.
func (s *Set) divided(held, kept []int) *Set {
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
	size := heldSize(n, fraction)
	slices.Sort(order[:size])
	slices.Sort(order[size:])
	return order[:size], order[size:]
}

// lastOf returns the indices of the last round(fraction·n) of n examples, and the remaining indices.
func lastOf(n int, fraction float64) (held, kept []int) {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	at := n - heldSize(n, fraction)
	return all[at:], all[:at]
}

// heldSize returns round(fraction·n), at most n.
func heldSize(n int, fraction float64) int {
	return min(int(math.Round(float64(fraction*float64(n)))), n)
}

// pick returns the examples at the given indices.
func (s *Split) pick(indices []int) *Split {
	if s.view == nil {
		out, next := newSplit(len(indices), s.Dim), -1
		s.Gather(out.X, out.Y, func() int { next++; return indices[next] })
		return out
	}
	out := &Split{N: len(indices), Dim: s.Dim, view: s.view.of(make([]int, len(indices)))}
	for k, i := range indices {
		out.Y, out.view.index[k] = append(out.Y, s.Y[i]), s.view.index[i]
	}
	return out
}
