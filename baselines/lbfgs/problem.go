package lbfgs

import (
	"math"

	"polkrepro/internal/gemm"
	"polkrepro/internal/parallel"
)

// A problem is the batch objective on one training set, with ℓ_μ for ℓ. It covers n of the total
// samples, as if the others had no loss.
type problem struct {
	vectors
	dualLoss
	n, outputs int
	total      float64
	lambda, mu float64
	y          []float64
	gram       gram
	products   int64
}

// rowChunk is the number of samples that a goroutine works on at a time.
const rowChunk = 1024

// totals are sums over samples.
type totals struct {
	smooth, slope    float64 // ℓ_μ and ∇ℓ_μ·d
	exact, conjugate float64 // ℓ and ℓ*(u)
	linear           float64 // u·f
}

func (t *totals) add(p totals) {
	t.smooth += p.smooth
	t.slope += p.slope
	t.exact += p.exact
	t.conjugate += p.conjugate
	t.linear += p.linear
}

// sum adds up the totals that do returns for the samples lo … hi−1 of every chunk, in the chunks'
// order.
func (p *problem) sum(do func(lo, hi int) totals) totals {
	parts := make([]totals, (p.n+rowChunk-1)/rowChunk)
	parallel.Do(p.threads, len(parts), func(_, k int) {
		parts[k] = do(k*rowChunk, min((k+1)*rowChunk, p.n))
	})
	var sum totals
	for _, t := range parts {
		sum.add(t)
	}
	return sum
}

// exactSums adds up ℓ at the scores f and ℓ* at the dual point u. A nil argument is skipped.
func (p *problem) exactSums(f, u []float64) totals {
	return p.sum(func(lo, hi int) totals {
		var t totals
		row := make([]float64, p.outputs)
		for i := lo; i < hi; i++ {
			if f != nil {
				p.column(row, f, i)
				t.exact += p.Value(row, p.y[i])
			}
			if u != nil {
				p.column(row, u, i)
				t.conjugate += p.conjugate(row, int(p.y[i]))
			}
		}
		return t
	})
}

// gradients writes ∇ℓ_μ at the scores f to u, both C×N, and returns all sums except the slope.
func (p *problem) gradients(u, f []float64) totals {
	gradient := p.byClass(u)
	return p.sum(func(lo, hi int) totals {
		var t totals
		ui, fi := make([]float64, p.outputs), make([]float64, p.outputs)
		for i := lo; i < hi; i++ {
			p.column(fi, f, i)
			t.smooth += p.smooth(ui, fi, int(p.y[i]), p.mu)
			t.exact += p.Value(fi, p.y[i])
			t.conjugate += p.conjugate(ui, int(p.y[i]))
			for c, v := range ui {
				t.linear += float64(v * fi[c])
				gradient.Set(c, i, v)
			}
		}
		return t
	})
}

// column copies the scores of sample i, or its part of a dual point, from src to dst.
func (p *problem) column(dst, src []float64, i int) {
	m := p.byClass(src)
	for c := range dst {
		dst[c] = m.At(c, i)
	}
}

// byClass returns scores, weights or a dual point as a matrix, C×N.
func (p *problem) byClass(v []float64) gemm.Matrix[float64] {
	return gemm.MatrixOf(p.outputs, p.n, v)
}

// along returns Σ ℓ_μ and its slope at the scores f + t·d.
func (p *problem) along(f []float64, t float64, d []float64) totals {
	return p.sum(func(lo, hi int) totals {
		var sum totals
		ui, fi, di := make([]float64, p.outputs), make([]float64, p.outputs), make([]float64, p.outputs)
		for i := lo; i < hi; i++ {
			p.column(fi, f, i)
			p.column(di, d, i)
			for c, v := range di {
				fi[c] += float64(t * v)
			}
			sum.smooth += p.smooth(ui, fi, int(p.y[i]), p.mu)
			for c, v := range di {
				sum.slope += float64(v * ui[c])
			}
		}
		return sum
	})
}

// An iterate is a function f with the objective, its gradient and a dual point there.
type iterate struct {
	f         element
	dual      element // ∇ℓ_μ at the samples, a dual point, and its product with K
	gradient  element // of the smoothed objective: dual/N + λf
	normSq    float64 // ‖f‖²
	objective float64 // with ℓ itself
	conjugate float64 // mean of ℓ*(dual)
	bias      float64 // amount that ℓ_μ in place of ℓ adds to the gap of f and dual
	slope     float64 // ‖gradient‖
}

func newIterate(size int) *iterate {
	return &iterate{f: newElement(size), dual: newElement(size), gradient: newElement(size)}
}

// evaluate fills in all fields except f. It takes the one product with K of an iteration.
func (p *problem) evaluate(x *iterate) {
	n := p.total
	t := p.gradients(x.dual.w, x.f.kw)
	p.gram.mul(x.dual.kw, x.dual.w)
	p.products++
	p.mix(x.gradient, 1/n, x.dual, p.lambda, x.f)
	x.normSq = p.inner(x.f, x.f)
	x.objective = t.exact/n + float64(p.lambda/2*x.normSq)
	x.conjugate = t.conjugate / n
	x.bias = max(0, (t.exact+t.conjugate-t.linear)/n)
	if p.mu == 0 {
		x.bias = 0 // by Fenchel and Young's equality; computed, it would be rounding error
	}
	x.slope = math.Sqrt(max(0, p.inner(x.gradient, x.gradient)))
}
