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

	// hessian returns the Hessian of H with respect to beta; only the lower triangle is valid. The
	// index of contrast a and basis vector t is a·q+t. The next call overwrites the result.
	hessian() matrix

	// cross writes the Hessian between the basis and the candidates to to. rows, J×N, holds the
	// candidates' values at the training points. Row r·D+a of to is that of contrast a of
	// candidate r and has D·q columns.
	cross(worker int, rows, to matrix)

	// change evaluates functions at the training points lo … hi−1 and writes their values to the
	// rows of to. The rows of coef hold their q coefficients.
	change(worker int, coef matrix, lo, hi int, to matrix)
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
		return newProducts[float32](s)
	}
	return newProducts[float64](s)
}

// products is a curvature of precision T.
type products[T gemm.Float] struct {
	*state
	phi  gemm.Matrix[T] // q×N
	h    matrix         // the Hessian
	work []workspace[T]
}

func newProducts[T gemm.Float](s *state) *products[T] {
	return &products[T]{state: s, phi: gemm.NewMatrix[T](0, s.n), work: make([]workspace[T], s.Threads)}
}

// workspace is the memory of a goroutine.
type workspace[T gemm.Float] struct {
	rows   gemm.Matrix[T] // J×N, candidates
	weight []T            // a pair's weights
	tile   gemm.Matrix[T] // weighted rows
	part   gemm.Matrix[T] // a sum over flushed samples
	sum    matrix
	coef   gemm.Matrix[T]
	values gemm.Matrix[T]
}

func (p *products[T]) add(row []float64) {
	q, n := p.phi.Dims()
	p.phi = p.phi.Reshaped(q+1, n)
	gemm.Convert(p.phi.Row(q), row)
}

// couple returns Σ_i w_i·row_r(x_i)·φ_t(x_i) over the samples i, for the weights w of the pairs
// first … last−1, the rows, J×N, and t ≥ t0. Row (pair−first)·J+r of the result has q−t0 columns.
func (p *products[T]) couple(w *workspace[T], first, last int, rows gemm.Matrix[T], t0 int) matrix {
	j := rows.Len()
	q := p.phi.Len()
	phi := p.phi.Rows(t0, q)
	w.weight = grow(w.weight, termSize)
	w.part = w.part.Fresh((last-first)*j, q-t0)
	w.sum = w.sum.Fresh((last-first)*j, q-t0)
	w.sum.Clear()
	for lo := 0; lo < p.n; lo += flushed {
		end := min(lo+flushed, p.n)
		var beta T
		for at := lo; at < end; at += termSize {
			to := min(at+termSize, end)
			w.tile = w.tile.Fresh((last-first)*j, to-at)
			for pair := first; pair < last; pair++ {
				weight := w.weight[:to-at]
				gemm.Convert(weight, p.weight.Row(pair)[at:to])
				for r := range j {
					gemm.Product(w.tile.Row((pair-first)*j+r), rows.Row(r)[at:to], weight)
				}
			}
			gemm.MulABT(1, w.tile, phi.Cols(at, to), beta, w.part, 1)
			beta = 1
		}
		sum := w.sum.Data()
		for i, v := range w.part.Data() {
			sum[i] += float64(v)
		}
	}
	return w.sum
}

func (p *products[T]) hessian() matrix {
	q, d := p.order(), p.dims()
	size, pairs := d*q, d*(d+1)/2
	p.h = p.h.Fresh(size, size)
	groups := (pairs + pairGroup - 1) / pairGroup
	parallel.Do(p.Threads, groups*((q+hessianRows-1)/hessianRows), func(worker, u int) {
		t0, first := u/groups*hessianRows, u%groups*pairGroup
		t1, last := min(t0+hessianRows, q), min(first+pairGroup, pairs)
		sum := p.couple(&p.work[worker], first, last, p.phi.Rows(t0, t1), t0)
		// Blocks of contrasts are symmetric: rows t, columns v ≥ t0 of each are enough.
		for pair := first; pair < last; pair++ {
			a, b := pairAt(d, pair)
			block := p.h.Rows(b*q, (b+1)*q).Cols(a*q, (a+1)*q)
			for t := t0; t < t1; t++ {
				row := sum.Row((pair-first)*(t1-t0) + t - t0)
				for v := t; v < q; v++ {
					block.Set(t, v, row[v-t0])
					block.Set(v, t, row[v-t0])
				}
			}
		}
	})
	// The basis is orthonormal, so that λ/2·‖f‖² adds λ only to the diagonal.
	for t := range size {
		p.h.Row(t)[t] += p.Regularizer
	}
	return p.h
}

func (p *products[T]) cross(worker int, rows, to matrix) {
	q, d := p.order(), p.dims()
	j := rows.Len()
	pairs := d * (d + 1) / 2
	w := &p.work[worker]
	w.rows = w.rows.Fresh(j, p.n)
	gemm.Convert(w.rows.Data(), rows.Data())
	for first := 0; first < pairs; first += pairGroup {
		last := min(first+pairGroup, pairs)
		sum := p.couple(w, first, last, w.rows, 0)
		for pair := first; pair < last; pair++ {
			a, b := pairAt(d, pair)
			for r := range j {
				row := sum.Row((pair-first)*j + r)
				copy(to.Row(r*d + a)[b*q:], row)
				copy(to.Row(r*d + b)[a*q:], row)
			}
		}
	}
}

func (p *products[T]) change(worker int, coef matrix, lo, hi int, to matrix) {
	m, q := coef.Dims()
	w := &p.work[worker]
	w.coef, w.values = w.coef.Fresh(m, q), w.values.Fresh(m, hi-lo)
	for i := range m {
		gemm.Convert(w.coef.Row(i), coef.Row(i))
	}
	gemm.MulAB(1, w.coef, p.phi.Cols(lo, hi), 0, w.values, 1)
	for i := range m {
		gemm.Convert(to.Row(i), w.values.Row(i))
	}
}
