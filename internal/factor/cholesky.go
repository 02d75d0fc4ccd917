// Package factor factorizes dense symmetric float64 matrices, with the same bits on
// every architecture: the Cholesky factorization with triangular solves, and the
// eigendecomposition.
//
// Most of the work is done in products by [gemm.MulABT], whose order of summation is specified. All other products are rounded before they are added, so that no compiler
// fuses the two operations. Results depend neither on the number of threads nor on row strides.
//
// Right-hand sides and solutions are rows, so that a product of two blocks is A·Bᵀ of rows as stored.
package factor

import (
	"math"

	"polkrepro/internal/gemm"
)

// blockSize is the order of a diagonal block, which is factorized and solved without MulABT.
// Half this size costs more time in products, and twice this size more in substitution.
const blockSize = 24

// A matrix is a view of float64 elements.
type matrix = gemm.Matrix[float64]

// Cholesky overwrites the lower triangle of the symmetric matrix A with L, where A = L·Lᵀ, on at
// most threads goroutines. Elements above the diagonal are not read and may be overwritten. It
// returns false, and leaves L incomplete, if a pivot is not positive: A is not positive definite
// in floating point.
//
// The square of L_jj is the squared distance, in the geometry of A, of element j from the span
// of the preceding elements. Its ratio to A_jj measures how dependent the element is on them.
func Cholesky(a matrix, threads int) bool {
	n := a.Len()
	// Left-looking: before block column j is factorized, the block columns before it are
	// subtracted in one product, and they are not touched again.
	for j := 0; j < n; j += blockSize {
		end := min(j+blockSize, n)
		before, column := a.Cols(0, j), a.Cols(j, end)
		gemm.MulABT(-1, before.Rows(j, n), before.Rows(j, end), 1, column.Rows(j, n), threads)
		block := column.Rows(j, end)
		if !choleskyBlock(block) {
			return false
		}
		solveBlock(block, column.Rows(end, n))
	}
	return true
}

// choleskyBlock factorizes a block, row by row.
func choleskyBlock(a matrix) bool {
	for i := range a.Len() {
		row := a.Row(i)[:i+1]
		solveRow(i, a, row)
		square := row[i] - dot(row[:i], row[:i])
		if !(square > 0) || math.IsInf(square, 1) {
			return false
		}
		row[i] = math.Sqrt(square)
	}
	return true
}

// SolveLower overwrites each row x of B with L⁻¹·x, that is B ← B·L⁻ᵀ, on at most threads
// goroutines, for a lower triangular L. A zero on its diagonal gives infinities or NaN.
func SolveLower(l, b matrix, threads int) {
	n := l.Len()
	for j := 0; j < n; j += blockSize {
		end := min(j+blockSize, n)
		rows, right := l.Rows(j, end), b.Cols(j, end)
		gemm.MulABT(-1, b.Cols(0, j), rows.Cols(0, j), 1, right, threads)
		solveBlock(rows.Cols(j, end), right)
	}
}

// solveBlock overwrites the rows of B with B·L⁻ᵀ for a block L.
func solveBlock(l, b matrix) {
	m, n := b.Dims()
	for r := range m {
		solveRow(n, l, b.Row(r))
	}
}

// solveRow overwrites the first n elements of x with L⁻¹·x.
func solveRow(n int, l matrix, x []float64) {
	for i := range n {
		row := l.Row(i)[:i+1]
		x[i] = (x[i] - dot(row[:i], x[:i])) / row[i]
	}
}

// SolveLowerT overwrites each row x of B with L⁻ᵀ·x, that is B ← B·L⁻¹, on at most threads
// goroutines, for a lower triangular L. A zero on its diagonal gives infinities or NaN.
func SolveLowerT(l, b matrix, threads int) {
	n := l.Len()
	m := b.Len()
	if m == 0 || n == 0 {
		return
	}
	columns := gemm.NewMatrix[float64](min(blockSize, n), n) // a block column of L, transposed
	for j := (n - 1) / blockSize * blockSize; j >= 0; j -= blockSize {
		end := min(j+blockSize, n)
		for i := j; i < n; i++ {
			for c, v := range l.Row(i)[j:min(end, i+1)] {
				columns.Set(c, i, v)
			}
		}
		column, right := columns.Rows(0, end-j), b.Cols(j, end)
		gemm.MulABT(-1, b.Cols(end, n), column.Cols(end, n), 1, right, threads)
		for r := range m {
			x := right.Row(r)
			for i := end - j - 1; i >= 0; i-- {
				row := column.Row(i)[j:end]
				x[i] = (x[i] - dot(row[i+1:], x[i+1:])) / row[i]
			}
		}
	}
}

// InvertLower writes the inverse of the lower triangular matrix L to inv, on at most threads
// goroutines. The upper triangle becomes zero. inv must not overlap L.
func InvertLower(l, inv matrix, threads int) {
	n := l.Len()
	inv.Clear()
	for i := range n {
		inv.Set(i, i, 1)
	}
	// The rows of the identity become the rows of L⁻ᵀ. Row i is zero before column i,
	// so block column j affects only the rows up to its end.
	for j := 0; j < n; j += blockSize {
		end := min(j+blockSize, n)
		rows, column := l.Rows(j, end), inv.Cols(j, end)
		gemm.MulABT(-1, inv.Rows(0, j).Cols(0, j), rows.Cols(0, j), 1, column.Rows(0, j), threads)
		solveBlock(rows.Cols(j, end), column.Rows(0, end))
	}
	for i := range n {
		above := inv.Row(i)[i+1:]
		for q, v := range above {
			inv.Set(i+1+q, i, v)
		}
		clear(above)
	}
}

// Pivots returns the order in which a Cholesky factorization with diagonal pivoting takes the
// elements of the symmetric matrix A. A pivot is the squared distance of an element from the span
// of the elements already taken. rank is the number of elements taken before all remaining pivots
// are at most tol, or ended, unless nil, reports true. Pivots destroys A.
func Pivots(a matrix, tol float64, ended func() bool) (order []int, rank int) {
	n := a.Len()
	order = make([]int, n)
	for i := range order {
		order[i] = i
	}
	// Invariant: A over order[rank:] is the Schur complement over order[:rank].
	for ; rank < n; rank++ {
		best := rank
		for i := rank + 1; i < n; i++ {
			if largest, v := a.At(order[best], order[best]), a.At(order[i], order[i]); v > largest || math.IsNaN(largest) {
				best = i
			}
		}
		p := order[best]
		copy(order[rank+1:best+1], order[rank:best]) // of equal pivots the first is taken
		order[rank] = p
		pivot := a.At(p, p)
		if !(pivot > tol) || ended != nil && ended() {
			return order, rank
		}
		for _, i := range order[rank+1:] {
			gemm.Axpy(-a.At(i, p)/pivot, a.Row(p), a.Row(i))
		}
	}
	return order, rank
}

// dot returns Σ x[i]·y[i], in four sums. The vectors are too short here for gemm.Dot to be faster.
func dot(x, y []float64) float64 {
	var s0, s1, s2, s3 float64
	y = y[:len(x)]
	for len(x) >= 4 && len(y) >= 4 {
		s0 += float64(x[0] * y[0])
		s1 += float64(x[1] * y[1])
		s2 += float64(x[2] * y[2])
		s3 += float64(x[3] * y[3])
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		s0 += float64(v * y[i])
	}
	return (s0 + s2) + (s1 + s3)
}
