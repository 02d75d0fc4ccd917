// Package factor factorizes dense symmetric float64 matrices, with the same bits on
// every architecture: the Cholesky factorization with triangular solves, and the
// eigendecomposition.
//
// Matrices are row-major. Most of the work is done in products by [gemm.MulABT], whose order of
// summation is specified. All other products are rounded before they are added, so that no compiler
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

// Cholesky overwrites the lower triangle of the symmetric n×n matrix A, of row stride
// lda, with L, where A = L·Lᵀ, on at most threads goroutines. Elements
// above the diagonal are not read and may be overwritten. It returns false, and leaves L
// incomplete, if a pivot is not positive: A is not positive definite in floating point.
//
// The square of L_jj is the squared distance, in the geometry of A, of element j from the span
// of the preceding elements. Its ratio to A_jj measures how dependent the element is on them.
func Cholesky(n int, a []float64, lda, threads int) bool {
	// Left-looking: before block column j is factorized, the block columns before it are
	// subtracted in one product, and they are not touched again.
	for j := 0; j < n; j += blockSize {
		nb := min(blockSize, n-j)
		rest := a[j*lda:]
		gemm.MulABT(n-j, nb, j, -1, rest, lda, rest, lda, 1, rest[j:], lda, threads)
		if !choleskyBlock(nb, rest[j:], lda) {
			return false
		}
		if n > j+nb {
			solveBlock(n-j-nb, nb, rest[j:], lda, a[(j+nb)*lda+j:], lda)
		}
	}
	return true
}

// choleskyBlock factorizes an n×n block, row by row.
func choleskyBlock(n int, a []float64, lda int) bool {
	for i := range n {
		row := a[i*lda : i*lda+i+1]
		solveRow(i, a, lda, row)
		square := row[i] - dot(row[:i], row[:i])
		if !(square > 0) || math.IsInf(square, 1) {
			return false
		}
		row[i] = math.Sqrt(square)
	}
	return true
}

// SolveLower overwrites each row x of the m rows of B, of row stride ldb, with L⁻¹·x,
// that is B ← B·L⁻ᵀ, on at most threads goroutines. L is n×n lower triangular of row
// stride ldl. A zero on its diagonal gives infinities or NaN.
func SolveLower(m, n int, l []float64, ldl int, b []float64, ldb, threads int) {
	if m == 0 {
		return
	}
	for j := 0; j < n; j += blockSize {
		nb := min(blockSize, n-j)
		gemm.MulABT(m, nb, j, -1, b, ldb, l[j*ldl:], ldl, 1, b[j:], ldb, threads)
		solveBlock(m, nb, l[j*ldl+j:], ldl, b[j:], ldb)
	}
}

// solveBlock overwrites the m rows of B with B·L⁻ᵀ for an n×n block L.
func solveBlock(m, n int, l []float64, ldl int, b []float64, ldb int) {
	for r := range m {
		solveRow(n, l, ldl, b[r*ldb:r*ldb+n])
	}
}

// solveRow overwrites the first n elements of x with L⁻¹·x.
func solveRow(n int, l []float64, ldl int, x []float64) {
	for i := range n {
		row := l[i*ldl : i*ldl+i+1]
		x[i] = (x[i] - dot(row[:i], x[:i])) / row[i]
	}
}

// SolveLowerT overwrites each row x of the m rows of B, of row stride ldb, with
// L⁻ᵀ·x, that is B ← B·L⁻¹, on at most threads goroutines. L is n×n lower triangular
// of row stride ldl. A zero on its diagonal gives infinities or NaN.
func SolveLowerT(m, n int, l []float64, ldl int, b []float64, ldb, threads int) {
	if m == 0 {
		return
	}
	column := make([]float64, blockSize*n) // a block column of L, transposed
	for j := (n - 1) / blockSize * blockSize; j >= 0; j -= blockSize {
		nb := min(blockSize, n-j)
		for i := j; i < n; i++ {
			for c, v := range l[i*ldl+j : i*ldl+min(j+nb, i+1)] {
				column[c*n+i] = v
			}
		}
		end := j + nb
		if end < n {
			gemm.MulABT(m, nb, n-end, -1, b[end:], ldb, column[end:], n, 1, b[j:], ldb, threads)
		}
		for r := range m {
			x := b[r*ldb+j : r*ldb+end]
			for i := nb - 1; i >= 0; i-- {
				row := column[i*n+j : i*n+end]
				x[i] = (x[i] - dot(row[i+1:], x[i+1:])) / row[i]
			}
		}
	}
}

// InvertLower writes the inverse of the n×n lower triangular matrix L, of row stride
// ldl, to inv, of row stride ldi, on at most threads goroutines. The upper
// triangle becomes zero. inv must not overlap L.
func InvertLower(n int, l []float64, ldl int, inv []float64, ldi, threads int) {
	for i := range n {
		clear(inv[i*ldi : i*ldi+n])
		inv[i*ldi+i] = 1
	}
	// The rows of the identity become the rows of L⁻ᵀ. Row i is zero before column i,
	// so block column j affects only the rows up to its end.
	for j := 0; j < n; j += blockSize {
		nb := min(blockSize, n-j)
		if j > 0 {
			gemm.MulABT(j, nb, j, -1, inv, ldi, l[j*ldl:], ldl, 1, inv[j:], ldi, threads)
		}
		solveBlock(j+nb, nb, l[j*ldl+j:], ldl, inv[j:], ldi)
	}
	for i := range n {
		for j := range i {
			inv[i*ldi+j], inv[j*ldi+i] = inv[j*ldi+i], 0
		}
	}
}

// Pivots returns the order in which a Cholesky factorization with diagonal pivoting takes
// the elements of the symmetric n×n matrix A, of row stride lda. A pivot is the squared
// distance of an element from the span of the elements already taken. rank is the number
// of elements taken before all remaining pivots are at most tol, or ended, unless nil, reports
// true. Pivots destroys A.
func Pivots(n int, a []float64, lda int, tol float64, ended func() bool) (order []int, rank int) {
	order = make([]int, n)
	for i := range order {
		order[i] = i
	}
	// Invariant: A over order[rank:] is the Schur complement over order[:rank].
	for ; rank < n; rank++ {
		best := rank
		for i := rank + 1; i < n; i++ {
			if e, o := order[best], order[i]; a[o*lda+o] > a[e*lda+e] || math.IsNaN(a[e*lda+e]) {
				best = i
			}
		}
		p := order[best]
		copy(order[rank+1:best+1], order[rank:best]) // of equal pivots the first is taken
		order[rank] = p
		pivot := a[p*lda+p]
		if !(pivot > tol) || ended != nil && ended() {
			return order, rank
		}
		for _, i := range order[rank+1:] {
			gemm.Axpy(-a[i*lda+p]/pivot, a[p*lda:p*lda+n], a[i*lda:i*lda+n])
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
