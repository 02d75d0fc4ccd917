// Package gemm computes A·Bᵀ for row-major float32 and float64 matrices, and
// the Gaussian kernel block that is A·Bᵀ with an epilogue.
package gemm

import "math"

// Float is the element type of a matrix.
type Float interface{ float32 | float64 }

// MulABT computes C ← α·A·Bᵀ + β·C for row-major A (m×k, row stride lda),
// B (n×k, ldb) and C (m×n, ldc), on at most threads goroutines. With β = 0, C
// is not read. The result does not depend on threads.
func MulABT[T Float](m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc, threads int) {
	for i := range m {
		for j := range n {
			var s T
			for q := range k {
				s += a[i*lda+q] * b[j*ldb+q]
			}
			if beta == 0 {
				c[i*ldc+j] = alpha * s
			} else {
				c[i*ldc+j] = alpha*s + beta*c[i*ldc+j]
			}
		}
	}
}

// Panels is a growable set of rows kept in the packed form that the
// matrix-product kernels read, together with their squared norms.
type Panels[T Float] struct {
	dim  int
	rows [][]T
}

// NewPanels returns an empty set of rows of length dim.
func NewPanels[T Float](dim int) *Panels[T] { return &Panels[T]{dim: dim} }

// Len returns the number of rows.
func (p *Panels[T]) Len() int { return len(p.rows) }

// Append adds a row, which is copied.
func (p *Panels[T]) Append(row []T) { p.rows = append(p.rows, append([]T(nil), row...)) }

// Remove deletes row i; the last row takes its place.
func (p *Panels[T]) Remove(i int) {
	n := len(p.rows) - 1
	p.rows[i] = p.rows[n]
	p.rows = p.rows[:n]
}

// Reset removes all rows and keeps the memory.
func (p *Panels[T]) Reset() { p.rows = p.rows[:0] }

// Row copies row i to dst.
func (p *Panels[T]) Row(dst []T, i int) { copy(dst, p.rows[i]) }

// MulABT computes C ← A·Pᵀ for row-major A (m×dim, lda), C (m×Len, ldc).
func (p *Panels[T]) MulABT(m int, a []T, lda int, c []T, ldc, threads int) {
	for i := range m {
		for j, r := range p.rows {
			var s T
			for q, v := range r {
				s += a[i*lda+q] * v
			}
			c[i*ldc+j] = s
		}
	}
}

// Gaussian computes C_ij ← exp(−gamma·max(0, ‖a_i‖² + ‖p_j‖² − 2 a_i·p_j)).
func (p *Panels[T]) Gaussian(m int, a []T, lda int, gamma T, c []T, ldc, threads int) {
	p.MulABT(m, a, lda, c, ldc, threads)
	for i := range m {
		var na T
		for _, v := range a[i*lda : i*lda+p.dim] {
			na += v * v
		}
		for j, r := range p.rows {
			var nb T
			for _, v := range r {
				nb += v * v
			}
			d := max(0, na+nb-2*c[i*ldc+j])
			c[i*ldc+j] = T(math.Exp(float64(-gamma * d)))
		}
	}
}
