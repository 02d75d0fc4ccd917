package ivm

import (
	"polkrepro/internal/gemm"
	"polkrepro/internal/parallel"
)

// A curvature computes the products in the Newton equations, which are nearly all the arithmetic
// of an import.
type curvature interface {
	// add appends the values of a new basis function at the training points.
	add(row []float64)

	// hessian returns the Hessian of H with respect to beta, row-major; only the lower triangle
	// is valid. The index of contrast a and basis vector t is a·q+t. The next call overwrites the
	// result.
	hessian() []float64

	// cross writes the Hessian between the basis and j candidates to to. rows holds the
	// candidates' values at the training points. Row r·D+a of to is that of contrast a of
	// candidate r and has D·q columns.
	cross(worker, j int, rows, to []float64)

	// change evaluates m functions at the training points lo … hi−1 and writes their values to
	// the rows of to, chunk apart. coef holds their coefficients, m×(q+1), of which change reads
	// the first q of each row.
	change(worker, m int, coef []float64, lo, hi int, to []float64)
}

const (
	// hessianRows is the number of rows of the Hessian's blocks that a goroutine takes at a time,
	// pairGroup the number of pairs of contrasts: the weighted rows stay in cache.
	hessianRows = 32
	pairGroup   = 9

	// flushed is the number of samples over which sums are taken in T, termSize the number of
	// samples in one product.
	termSize = 384
	flushed  = 4 * termSize

	// singleFrom is the smallest λ, relative to the mean of κ(x, x), for which products are taken
	// in single precision. Their error is at most about 2⁻²⁴ of that mean, and the Hessian's
	// eigenvalues are at least λ.
	singleFrom = 0x1p-20
)

// newCurvature chooses the precision. Only directions, and the estimates of H by which
// candidates are compared, depend on it. Objectives and gradients of the
// model are float64 whatever the precision.
func newCurvature(s *state) curvature {
	var self float64
	for i := range s.n {
		self += s.Kernel.Self(s.x[i*s.Dim : (i+1)*s.Dim])
	}
	if s.Regularizer >= singleFrom*self/float64(s.n) {
		return &products[float32]{state: s, work: make([]workspace[float32], s.Threads)}
	}
	return &products[float64]{state: s, work: make([]workspace[float64], s.Threads)}
}

// products is a curvature of precision T.
type products[T gemm.Float] struct {
	*state
	phi  []T // q×N
	h    []float64
	work []workspace[T]
}

// workspace is the memory of a goroutine.
type workspace[T gemm.Float] struct {
	rows   []T // J×N, candidates
	weight []T // a pair's weights
	tile   []T // weighted rows, termSize apart
	part   []T // a sum over flushed samples
	sum    []float64
	coef   []T
}

func (p *products[T]) add(row []float64) {
	at := len(p.phi)
	p.phi = append(p.phi, make([]T, len(row))...)
	gemm.Convert(p.phi[at:], row)
}

// couple returns Σ_i w_i·row_r(x_i)·φ_t(x_i) over the samples i, for the weights w of the pairs
// first … last−1, the j rows, which are N apart, and t ≥ t0. Row (pair−first)·j+r of the result
// has q−t0 columns.
func (p *products[T]) couple(w *workspace[T], first, last, j int, rows []T, t0 int) []float64 {
	m, n := (last-first)*j, p.order()-t0
	w.tile = grow(w.tile, m*termSize)
	w.weight = grow(w.weight, termSize)
	w.part = grow(w.part, m*n)
	w.sum = grow(w.sum, m*n)
	clear(w.sum)
	for lo := 0; lo < p.n; lo += flushed {
		end := min(lo+flushed, p.n)
		var beta T
		for at := lo; at < end; at += termSize {
			k := min(termSize, end-at)
			for pair := first; pair < last; pair++ {
				gemm.Convert(w.weight, p.weight[pair*p.n+at:][:k])
				for r := range j {
					gemm.Product(w.tile[((pair-first)*j+r)*termSize:][:k], rows[r*p.n+at:][:k], w.weight[:k])
				}
			}
			gemm.MulABT(m, n, k, 1, w.tile, termSize, p.phi[t0*p.n+at:], p.n, beta, w.part, n, 1)
			beta = 1
		}
		for i, v := range w.part {
			w.sum[i] += float64(v)
		}
	}
	return w.sum
}

func (p *products[T]) hessian() []float64 {
	q, d := p.order(), p.dims()
	size, pairs := d*q, d*(d+1)/2
	p.h = grow(p.h, size*size)
	h := p.h
	groups := (pairs + pairGroup - 1) / pairGroup
	parallel.Do(p.Threads, groups*((q+hessianRows-1)/hessianRows), func(worker, u int) {
		t0, first := u/groups*hessianRows, u%groups*pairGroup
		t1, last := min(t0+hessianRows, q), min(first+pairGroup, pairs)
		sum := p.couple(&p.work[worker], first, last, t1-t0, p.phi[t0*p.n:], t0)
		// Blocks of contrasts are symmetric: rows t, columns v ≥ t0 of each are enough.
		for pair := first; pair < last; pair++ {
			a, b := pairAt(d, pair)
			block := h[b*q*size+a*q:]
			for t := t0; t < t1; t++ {
				row := sum[((pair-first)*(t1-t0)+t-t0)*(q-t0):][:q-t0]
				for v := t; v < q; v++ {
					block[t*size+v], block[v*size+t] = row[v-t0], row[v-t0]
				}
			}
		}
	})
	// The basis is orthonormal, so that λ/2·‖f‖² adds λ only to the diagonal.
	for t := range size {
		h[t*size+t] += p.Regularizer
	}
	return h
}

func (p *products[T]) cross(worker, j int, rows, to []float64) {
	q, d := p.order(), p.dims()
	pairs := d * (d + 1) / 2
	w := &p.work[worker]
	w.rows = grow(w.rows, j*p.n)
	gemm.Convert(w.rows, rows)
	for first := 0; first < pairs; first += pairGroup {
		last := min(first+pairGroup, pairs)
		sum := p.couple(w, first, last, j, w.rows, 0)
		for pair := first; pair < last; pair++ {
			a, b := pairAt(d, pair)
			for r := range j {
				row := sum[((pair-first)*j+r)*q:][:q]
				copy(to[((r*d+a)*d+b)*q:], row)
				copy(to[((r*d+b)*d+a)*q:], row)
			}
		}
	}
}

func (p *products[T]) change(worker, m int, coef []float64, lo, hi int, to []float64) {
	q, n := p.order(), hi-lo
	w := &p.work[worker]
	w.coef = grow(w.coef, m*q)
	for i := range m {
		gemm.Convert(w.coef[i*q:], coef[i*(q+1):][:q])
	}
	w.tile = grow(w.tile, m*n)
	phi := p.phi[min(lo, len(p.phi)):] // empty before the first import
	gemm.MulAB(m, n, q, 1, w.coef, q, phi, p.n, 0, w.tile, n, 1)
	for i := range m {
		gemm.Convert(to[i*chunk:], w.tile[i*n:(i+1)*n])
	}
}
