package texton

import (
	"bytes"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"polkrepro/internal/gemm"
	"polkrepro/internal/parallel"
)

// A dictionary is a set of centres. Their elements are integers, like the vectors'.
type dictionary struct {
	dim     int
	centres []float64 // size×dim
	panels  *gemm.Panels[float64]
	norms   []float64 // ‖c‖²/2
}

func newDictionary(centres []float64, dim int) *dictionary {
	d := &dictionary{dim: dim, centres: centres, panels: gemm.NewPanels[float64](dim)}
	for ; len(centres) > 0; centres = centres[dim:] {
		d.panels.Append(centres[:dim])
		d.norms = append(d.norms, gemm.Dot(centres[:dim], centres[:dim])/2)
	}
	return d
}

func (d *dictionary) size() int { return len(d.norms) }

// nearest writes the index of the centre nearest to each of n vectors to labels.
// Ties go to the lowest index. scores is scratch space of n×size.
func (d *dictionary) nearest(n int, x, scores []float64, labels []uint8) {
	k := d.size()
	d.panels.MulABT(gemm.MatrixOf(n, d.dim, x), gemm.MatrixOf(n, k, scores), 1)
	for i := range n {
		// (‖x − c‖² − ‖x‖²)/2 is exact, so rounding makes no ties.
		best, at := d.norms[0]-scores[i*k], 0
		row, norms := scores[i*k:(i+1)*k], d.norms[:k]
		for j, s := range row {
			if v := norms[j] - s; v < best {
				best, at = v, j
			}
		}
		labels[i] = uint8(at)
	}
}

// learn runs k-means on the vectors x, n×dim integers. k-means++ draws k centres
// from x; Lloyd's algorithm then runs until no label changes, for at most the
// given number of iterations. Centres are rounded means. A centre that is nearest
// to no vector stays unchanged.
func learn(x []float64, dim, k, iterations int, src rand.Source, threads int) *dictionary {
	d := newDictionary(seed(x, dim, k, src), dim)
	labels, last := make([]uint8, len(x)/dim), make([]uint8, len(x)/dim)
	for it := range iterations {
		d.label(x, labels, threads)
		if it > 0 && bytes.Equal(labels, last) {
			break
		}
		copy(last, labels)
		d = newDictionary(d.means(x, labels), dim)
	}
	return d
}

// label writes the index of the centre nearest to each vector to labels.
func (d *dictionary) label(x []float64, labels []uint8, threads int) {
	inBlocks(len(labels), threads, func() func(lo, hi int) {
		scores := make([]float64, blockSize*d.size())
		return func(lo, hi int) { d.nearest(hi-lo, x[lo*d.dim:], scores, labels[lo:hi]) }
	})
}

// means returns the rounded mean of the vectors of each label, or the unchanged
// centre if no vector has the label.
func (d *dictionary) means(x []float64, labels []uint8) []float64 {
	sums, counts := make([]int64, len(d.centres)), make([]int64, d.size())
	for i, label := range labels {
		counts[label]++
		sum := sums[int(label)*d.dim : (int(label)+1)*d.dim]
		for q, v := range x[i*d.dim : (i+1)*d.dim] {
			sum[q] += int64(v)
		}
	}
	means := slices.Clone(d.centres)
	for i, sum := range sums {
		if n := counts[i/d.dim]; n > 0 {
			means[i] = float64(roundedQuotient(sum, n))
		}
	}
	return means
}

// roundedQuotient returns a/n rounded, halves away from zero.
func roundedQuotient(a, n int64) int64 {
	if a < 0 {
		return -roundedQuotient(-a, n)
	}
	return (a + n/2) / n
}

// seed draws k of the vectors by k-means++ (Arthur and Vassilvitskii 2007): the
// first uniformly, each further vector with a probability proportional to its
// squared distance from the nearest vector drawn before.
func seed(x []float64, dim, k int, src rand.Source) []float64 {
	n := len(x) / dim
	nearest := make([]float64, n) // squared distance from the nearest drawn vector
	norms := make([]float64, n)
	for i := range n {
		row := x[i*dim : (i+1)*dim]
		nearest[i], norms[i] = math.Inf(1), gemm.Dot(row, row)
	}
	centres := make([]float64, 0, k*dim)
	at := int(below(src, uint64(n)))
	for {
		c := x[at*dim : (at+1)*dim]
		centres = append(centres, c...)
		if len(centres) == k*dim {
			return centres
		}
		for i := range nearest {
			d := norms[i] - float64(2*gemm.Dot(x[i*dim:(i+1)*dim], c)) + norms[at]
			nearest[i] = min(nearest[i], d)
		}
		at = drawWeighted(nearest, src)
	}
}

// drawWeighted draws an index with a probability proportional to its weight, or
// uniformly if all weights are 0. There must be fewer than 2³⁰ weights, which are
// integers below 2⁵³.
func drawWeighted(weights []float64, src rand.Source) int {
	const scale = 1.0 / (1 << 20) // the sum stays below 2⁶³
	var total uint64
	for _, w := range weights {
		total += uint64(w * scale)
	}
	if total == 0 {
		return int(below(src, uint64(len(weights))))
	}
	left := below(src, total)
	for i, w := range weights {
		v := uint64(w * scale)
		if left < v {
			return i
		}
		left -= v
	}
	panic("texton: draw beyond the sum of weights")
}

// below returns a number in [0, n), uniform to within n·2⁻⁶⁴.
func below(src rand.Source, n uint64) uint64 {
	hi, _ := bits.Mul64(src.Uint64(), n)
	return hi
}

// blockSize is the number of vectors that are processed at a time, so that their
// windows stay in the second-level cache.
const blockSize = 64

// inBlocks processes blocks of 0 … n−1 on at most threads goroutines, the caller's
// among them. Each goroutine has its own function from newWork.
func inBlocks(n, threads int, newWork func() func(lo, hi int)) {
	works := make([]func(lo, hi int), max(threads, 1))
	parallel.Do(threads, (n+blockSize-1)/blockSize, func(worker, unit int) {
		if works[worker] == nil {
			works[worker] = newWork()
		}
		works[worker](unit*blockSize, min((unit+1)*blockSize, n))
	})
}
