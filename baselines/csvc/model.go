package csvc

import (
	"polkrepro/kernel"
	"polkrepro/loss"
)

// A Model is one decision function for every pair of classes, or for every class against the
// others, all on the same support vectors. Its methods do not change it, so goroutines may share
// it.
type Model struct {
	// Expansion holds the support vectors, each training point once, by class and in the order of
	// the training set. It has one output per pair, with the weights y_i α_i; the pairs are
	// (0, 1), (0, 2), …, (1, 2), … of positions in Labels. With OneVsAll it has one output per
	// class.
	Expansion *kernel.Expansion
	Rho       []float64 // one per output; f(x) − ρ > 0 votes for the pair's first class
	Labels    []int     // classes that occurred in training, in order of first occurrence
	OneVsAll  bool      // the largest f(x) − ρ decides
}

// newModel gathers the points that are a support vector of some pair.
func newModel(config Config, sets []*class, pairs []*pair) *Model {
	m := &Model{Expansion: kernel.NewExpansion(config.Kernel, config.Dim, len(pairs)), OneVsAll: config.OneVsAll}
	for _, p := range pairs {
		m.Rho = append(m.Rho, p.stats.Rho)
	}
	w := make([]float64, len(pairs))
	for _, set := range sets {
		m.Labels = append(m.Labels, set.label)
		for i := range set.index {
			if weights(w, pairs, set, i) {
				m.Expansion.Append(set.points.At(i), w)
			}
		}
	}
	return m
}

// weights sets w to the weights of point i of class c in all pairs, and reports whether any
// weight is not 0.
func weights(w []float64, pairs []*pair, c *class, i int) bool {
	support := false
	for p, pair := range pairs {
		w[p] = 0
		if first := pair.first(c); first >= 0 {
			w[p] = pair.beta[first+i]
		}
		support = support || w[p] != 0
	}
	return support
}

// NumSV returns the number of training points that are a support vector of
// some pair, LIBSVM's "Total nSV".
func (m *Model) NumSV() int { return m.Expansion.Order() }

// Decisions writes the decision values f_p(x_i) − ρ_p to dst, n×pairs
// row-major, for x of n×dim. Kernel values are float32; the result does not
// depend on threads. It panics if x or dst is too short.
func (m *Model) Decisions(n int, x []float32, dst []float64, threads int) {
	if len(x) < n*m.Expansion.Dict.Dim() || len(dst) < n*len(m.Rho) {
		panic(badLength)
	}
	m.Expansion.Scores(n, x, dst, threads)
	pairs := len(m.Rho)
	for i := range n {
		for p, rho := range m.Rho {
			dst[i*pairs+p] -= rho
		}
	}
}

const badLength = "csvc: x or dst is too short"

// predictRows bounds the decision values that Predict holds at once.
const predictRows = 2048

// Predict writes the predicted classes of x, n×dim row-major, to dst. Every pair votes for its
// first class if its decision value is above 0, and otherwise for its second. The class with the
// most votes wins; of tied classes, the class that occurred first in training wins, as in
// LIBSVM. With OneVsAll, the class with the largest decision value wins. Predict panics if x or
// dst is too short.
func (m *Model) Predict(n int, x []float32, dst []float64, threads int) {
	dim, pairs := m.Expansion.Dict.Dim(), len(m.Rho)
	if len(x) < n*dim || len(dst) < n {
		panic(badLength)
	}
	values := make([]float64, min(n, predictRows)*pairs)
	for lo := 0; lo < n; lo += predictRows {
		rows := min(predictRows, n-lo)
		m.Decisions(rows, x[lo*dim:], values, threads)
		for i := range rows {
			dst[lo+i] = float64(m.Labels[m.vote(values[i*pairs:(i+1)*pairs])])
		}
	}
}

// vote returns the position in Labels of the class with the most votes, or with the
// largest decision value.
func (m *Model) vote(values []float64) int {
	if m.OneVsAll {
		return loss.Predict(values)
	}
	votes := make([]float64, len(m.Labels))
	p := 0
	for i := range votes {
		for j := i + 1; j < len(votes); j++ {
			if values[p] > 0 {
				votes[i]++
			} else {
				votes[j]++
			}
			p++
		}
	}
	return loss.Predict(votes)
}
