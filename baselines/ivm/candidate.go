package ivm

import (
	"math"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
)

const (
	// blockSize is the number of candidates that a goroutine tries at a time.
	blockSize = 32

	// dependent is the squared distance from the span of the import points, as a fraction of
	// κ(x, x), below which a point counts as lying in the span.
	dependent = 1e-10
)

// A trial is the best candidate of a block.
type trial struct {
	index     int     // in the training set; −1 where no candidate is left
	objective float64 // H(f + d)
	norm      float64 // of the candidate's part orthogonal to the basis
	row       []float64
	dir       []float64 // (q+1)×D, coefficients of d
	rejected  []int     // candidates in the span of the import points
}

// A block tries J candidates, at most blockSize.
type block struct {
	*state
	worker   int
	equation *newton
	index    []int

	rows  []float64 // J×N, the candidates' orthogonal parts, of norm 1, at the training points
	norms []float64 // J, norms of the orthogonal parts; 0 for a candidate in the span
	cross []float64 // J·D×D·q, the Hessian between candidates and basis
	own   []float64 // D(D+1)/2×J, the Hessian of each candidate alone
	grad  []float64 // D×J
	delta []float64 // J×D, steps of the candidates' coefficients
	basis []float64 // J×D·q, steps of the basis' coefficients

	softmax softmax
	points  *kernel.Points
	wide    []float64
	tile    []float64
}

// try returns the best of the candidates index, using the given worker.
func (b *block) try(worker int, s *state, e *newton, index []int) trial {
	b.worker, b.state, b.equation, b.index = worker, s, e, index
	b.orthogonalize()
	b.couple()
	b.solve()
	return b.best(b.objectives())
}

// orthogonalize computes the candidates' parts orthogonal to the basis, scaled to norm 1.
func (b *block) orthogonalize() {
	j, q := len(b.index), b.order()
	if b.points == nil {
		b.points = kernel.NewPoints(b.Dim)
		b.wide = make([]float64, chunk*b.Dim)
	}
	b.points.Reset()
	for _, l := range b.index {
		b.points.Append(b.x[l*b.Dim : (l+1)*b.Dim])
	}
	b.rows = grow(b.rows, j*b.n)
	b.tile = grow(b.tile, chunk*j)
	// The part of κ(x_l, ·) orthogonal to the basis has the value κ(x_l, x) − Σ_t φ_t(x_l)·φ_t(x)
	// at x: a Gram–Schmidt step in the Hilbert space.
	own := make([]float64, j*q) // the basis at the candidates
	for i, l := range b.index {
		for t := range q {
			own[i*q+t] = b.phi[t*b.n+l]
		}
	}
	for lo := 0; lo < b.n; lo += chunk {
		n := min(chunk, b.n-lo)
		kernel.Widen(b.wide, b.x[lo*b.Dim:(lo+n)*b.Dim])
		b.points.Block64(b.Kernel, n, b.wide, b.tile, j, 1)
		gemm.Transpose(n, j, b.tile, j, b.rows[lo:], b.n)
		phi := b.phi[min(lo, len(b.phi)):] // empty before the first import
		gemm.MulAB(j, n, q, -1, own, q, phi, b.n, 1, b.rows[lo:], b.n, 1)
	}
	b.normalize()
}

// normalize divides each row by its norm, whose square is the row's value at
// the candidate itself.
func (b *block) normalize() {
	b.norms = grow(b.norms, len(b.index))
	for r, l := range b.index {
		row := b.rows[r*b.n : (r+1)*b.n]
		square := row[l]
		b.norms[r] = 0
		if !(square > dependent*b.Kernel.Self(b.points.At(r))) {
			clear(row)
			continue
		}
		b.norms[r] = math.Sqrt(square)
		for i := range row {
			row[i] /= b.norms[r]
		}
	}
}

// couple computes the candidates' rows of Hessian and gradient.
func (b *block) couple() {
	j, q, d := len(b.index), b.order(), b.dims()
	pairs := d * (d + 1) / 2
	b.cross = grow(b.cross, j*d*d*q)
	if q > 0 {
		b.curvature.cross(b.worker, j, b.rows, b.cross)
	}
	b.own = grow(b.own, pairs*j)
	b.grad = grow(b.grad, d*j)
	clear(b.own)
	b.tile = grow(b.tile, chunk*j)
	for lo := 0; lo < b.n; lo += chunk {
		n := min(chunk, b.n-lo)
		for r := range j {
			row := b.rows[r*b.n+lo : r*b.n+lo+n]
			gemm.Product(b.tile[r*chunk:r*chunk+n], row, row)
		}
		gemm.MulABT(pairs, j, n, 1, b.weight[lo:], b.n, b.tile, chunk, 1, b.own, j, 1)
	}
	gemm.MulABT(d, j, b.n, 1, b.gradient, b.n, b.rows, b.n, 0, b.grad, j, 1)
}
