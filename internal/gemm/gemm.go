// Package gemm computes A·Bᵀ for row-major float32 and float64 matrices, the
// Gaussian kernel block that is A·Bᵀ with an epilogue, and the few vector
// operations that go with them.
//
// # Backends
//
// On amd64 the kernels are assembly, AVX-512 or AVX2 with FMA, whichever the
// CPU has; elsewhere, on older CPUs and under the build tag noasm they are
// plain Go. [Backend] names the one in use.
//
// Under the build tag openblas, which needs cgo and the library, [MulABT]
// hands products of at least 2²⁴ multiply-adds, 64 rows on either side, to
// OpenBLAS. Their bits are then those of the installed version and vary with
// it, though still not with the number of threads. No learner of this module
// has such a product in its inner loop, [Panels] never uses the library, and
// so the tag is for benchmarks and tests.
//
// # Summation order
//
// Results do not depend on the number of threads, on which C_ij is computed
// beside which other, nor on strides. Two orders exist:
//
//   - In sequence: C_ij is the chain of multiply-adds over q = 0, 1, …,
//     restarted at every block of at most 384 columns and the blocks added up.
//     [Panels] always uses this order, so a kernel value has the same bits
//     whatever the size of the set and of the mini-batch, and κ(x, y) has the
//     bits of κ(y, x).
//   - In lanes: C_ij is a dot product over 64-byte vectors whose lanes are
//     added up at the end. [MulABT] uses it if min(m, n) ≤ 4 and k ≥ 32, or
//     min(m, n) ≤ 12 and k ≥ 256, where the large operand would otherwise be
//     read at a fraction of the memory's bandwidth.
//
// Both AVX backends give the same bits; the generic one rounds every product.
package gemm

// Float is the element type of a matrix.
type Float interface{ float32 | float64 }

// Backend returns the name of the kernels in use, "avx512", "avx2" or
// "generic", followed by "+openblas" if that library has the large products.
func Backend() string {
	if useOpenBLAS {
		return kernelsOf[float64]().name + "+openblas"
	}
	return kernelsOf[float64]().name
}

// MulABT computes C ← α·A·Bᵀ + β·C for row-major A (m×k, row stride lda),
// B (n×k, ldb) and C (m×n, ldc), on at most threads goroutines. With β = 0, C
// is not read; with α = 0, A and B are not, as in BLAS. The result does not
// depend on threads. C must not overlap A or B.
//
// It panics if a size is negative, a stride is less than its row, or a slice
// is too short for its matrix.
func MulABT[T Float](m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc, threads int) {
	checkMatrix("A", m, k, len(a), lda)
	checkMatrix("B", n, k, len(b), ldb)
	checkMatrix("C", m, n, len(c), ldc)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 || alpha == 0 {
		scale(m, n, beta, c, ldc)
		return
	}
	t := newTask[T]()
	t.m, t.n, t.k = m, n, k
	t.alpha, t.beta = alpha, beta
	t.a, t.lda, t.b, t.ldb, t.c, t.ldc = a, lda, b, ldb, c, ldc
	t.plan(threads)
	t.run(threads)
	t.release()
}

// checkMatrix panics unless a slice of length have holds a rows×cols matrix of
// row stride ld.
func checkMatrix(name string, rows, cols, have, ld int) {
	switch {
	case rows < 0 || cols < 0:
		panic("gemm: negative size of " + name)
	case ld < cols:
		panic("gemm: row stride less than the row length in " + name)
	case rows > 0 && have < (rows-1)*ld+cols:
		panic("gemm: slice too short for " + name)
	}
}

// scale computes C ← β·C.
func scale[T Float](m, n int, beta T, c []T, ldc int) {
	for i := range m {
		row := c[i*ldc : i*ldc+n]
		if beta == 0 {
			clear(row)
			continue
		}
		for j := range row {
			row[j] *= beta
		}
	}
}
