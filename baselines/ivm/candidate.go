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
	dir       matrix // (q+1)×D, coefficients of d
	rejected  []int  // candidates in the span of the import points
}

// A block tries J candidates, at most blockSize.
type block struct {
	*state
	worker   int
	equation *newton
	index    []int

	rows  matrix    // J×N, the candidates' orthogonal parts, of norm 1, at the training points
	norms []float64 // J, norms of the orthogonal parts; 0 for a candidate in the span
	cross matrix    // J·D×D·q, the Hessian between candidates and basis
	alone matrix    // D(D+1)/2×J, the Hessian of each candidate alone
	grad  matrix    // D×J
	delta matrix    // J×D, steps of the candidates' coefficients
	basis matrix    // J×D·q, steps of the basis' coefficients

	softmax softmax
	points  *kernel.Points
	x64     matrix // chunk×p: training points in float64
	tile    matrix
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
		b.x64 = gemm.NewMatrix[float64](chunk, b.Dim)
	}
	b.points.Reset()
	for _, l := range b.index {
		b.points.Append(b.x[l*b.Dim : (l+1)*b.Dim])
	}
	b.rows = b.rows.Fresh(j, b.n)
	// The part of κ(x_l, ·) orthogonal to the basis has the value κ(x_l, x) − Σ_t φ_t(x_l)·φ_t(x)
	// at x: a Gram–Schmidt step in the Hilbert space.
	basis := gemm.NewMatrix[float64](j, q) // at the candidates
	for i, l := range b.index {
		for t := range q {
			basis.Set(i, t, b.phi.At(t, l))
		}
	}
	for lo := 0; lo < b.n; lo += chunk {
		hi := min(lo+chunk, b.n)
		x64, rows := b.x64.Rows(0, hi-lo), b.rows.Cols(lo, hi)
		kernel.Widen(x64.Data(), b.x[lo*b.Dim:hi*b.Dim])
		b.tile = b.tile.Fresh(hi-lo, j)
		b.points.Block64(b.Kernel, x64, b.tile, 1)
		gemm.Transpose(b.tile, rows)
		gemm.MulAB(-1, basis, b.phi.Cols(lo, hi), 1, rows, 1)
	}
	b.normalize()
}

// normalize divides each row by its norm, whose square is the row's value at
// the candidate itself.
func (b *block) normalize() {
	b.norms = grow(b.norms, len(b.index))
	for r, l := range b.index {
		row := b.rows.Row(r)
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
	b.cross = b.cross.Fresh(j*d, d*q)
	if q > 0 {
		b.curvature.cross(b.worker, b.rows, b.cross)
	}
	b.alone = b.alone.Fresh(pairs, j)
	b.grad = b.grad.Fresh(d, j)
	b.alone.Clear()
	for lo := 0; lo < b.n; lo += chunk {
		hi := min(lo+chunk, b.n)
		b.tile = b.tile.Fresh(j, hi-lo)
		for r := range j {
			row := b.rows.Row(r)[lo:hi]
			gemm.Product(b.tile.Row(r), row, row)
		}
		gemm.MulABT(1, b.weight.Cols(lo, hi), b.tile, 1, b.alone, 1)
	}
	gemm.MulABT(1, b.gradient, b.rows, 0, b.grad, 1)
}
