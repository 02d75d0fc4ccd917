package lbfgs

import (
	"math"

	"polkrepro/internal/gemm"
	"polkrepro/internal/parallel"
)

// chunk is the length of the part of a vector that one goroutine works on at a time. Sums are
// taken per chunk and then in the chunks' order, so that no result depends on the number of
// goroutines.
const chunk = 1 << 14

// vectors is the arithmetic of vectors of N·C numbers.
type vectors struct {
	threads int
	whole   bool // a vector is one chunk, for models of few features
}

// chunk returns the length of a chunk of n numbers.
func (v vectors) chunk(n int) int {
	if v.whole {
		return max(n, 1)
	}
	return chunk
}

// chunks calls do for the chunks of 0 … n−1.
func (v vectors) chunks(n int, do func(lo, hi int)) {
	chunk := v.chunk(n)
	parallel.Do(v.threads, (n+chunk-1)/chunk, func(_, u int) {
		do(u*chunk, min((u+1)*chunk, n))
	})
}

// dot returns Σ x_i y_i.
func (v vectors) dot(x, y []float64) float64 {
	chunk := v.chunk(len(x))
	parts := make([]float64, (len(x)+chunk-1)/chunk)
	v.chunks(len(x), func(lo, hi int) { parts[lo/chunk] = gemm.Dot(x[lo:hi], y[lo:hi]) })
	var sum float64
	for _, p := range parts {
		sum += p
	}
	return sum
}

// axpy computes y ← a·x + y.
func (v vectors) axpy(a float64, x, y []float64) {
	v.chunks(len(x), func(lo, hi int) { gemm.Axpy(a, x[lo:hi], y[lo:hi]) })
}

// combine computes dst ← a·x + b·y. dst may be x or y.
func (v vectors) combine(dst []float64, a float64, x []float64, b float64, y []float64) {
	v.chunks(len(dst), func(lo, hi int) {
		x, y, dst := x[lo:hi], y[lo:hi], dst[lo:hi]
		for i, s := range x {
			dst[i] = float64(a*s) + float64(b*y[i])
		}
	})
}

// An element is a vector of C functions f_c = Σ_i w_ic κ(x_i, ·): the weights
// and their image Kw, the functions' values at the training points. Both are
// C×N. Linear combinations and inner products of elements need no product
// with K.
type element struct{ w, kw []float64 }

func newElement(size int) element {
	return element{make([]float64, size), make([]float64, size)}
}

// norm returns the Euclidean norm.
func norm(v []float64) float64 { return math.Sqrt(gemm.Dot(v, v)) }

// inner returns Σ_c ⟨f_c, g_c⟩ in the Hilbert space, fᵀKg.
func (v vectors) inner(f, g element) float64 { return v.dot(f.w, g.kw) }

// scale computes dst ← a·f. dst may be f.
func (v vectors) scale(dst element, a float64, f element) { v.mix(dst, a, f, 0, f) }

// add computes dst ← dst + a·f.
func (v vectors) add(dst element, a float64, f element) {
	v.axpy(a, f.w, dst.w)
	v.axpy(a, f.kw, dst.kw)
}

// mix computes dst ← a·f + b·g. dst may be f or g.
func (v vectors) mix(dst element, a float64, f element, b float64, g element) {
	v.combine(dst.w, a, f.w, b, g.w)
	v.combine(dst.kw, a, f.kw, b, g.kw)
}
