package gemm

import "polkrepro/internal/gemm/openblas"

// useOpenBLAS hands large products to OpenBLAS, in builds that link it; tests
// and benchmarks turn it off to reach this package's own kernels.
var useOpenBLAS = openblas.Available

const (
	// libraryWork is the number of multiply-adds from which OpenBLAS is asked,
	// libraryMin the least number of rows of A and of B.
	libraryWork = 1 << 24
	libraryMin  = 64

	// librarySide is the number of rows and of columns of a block of C in one
	// call: large enough to pay for packing, and the same whatever the number
	// of threads, so that the result is.
	librarySide = 512
)

// forLibrary reports whether OpenBLAS computes an m×n×k product.
func forLibrary(m, n, k int) bool {
	return useOpenBLAS && min(m, n) >= libraryMin && m*n*k >= libraryWork
}

// planLibrary splits C into blocks, each a call of its own: the library's
// threads would depend on a number that belongs to the whole process.
func (t *task[T]) planLibrary() {
	t.kind = kindLibrary
	t.unitRows, t.unitCols = librarySide, librarySide
	t.colUnits = ceilDiv(t.n, t.unitCols)
	t.units = ceilDiv(t.m, t.unitRows) * t.colUnits
}

func (t *task[T]) libraryUnit(u int) {
	i, j := u/t.colUnits*t.unitRows, u%t.colUnits*t.unitCols
	rows, cols := min(t.unitRows, t.m-i), min(t.unitCols, t.n-j)
	openblas.MulABT(rows, cols, t.k, t.alpha, t.a[i*t.lda:], t.lda, t.b[j*t.ldb:], t.ldb, t.beta, t.c[i*t.ldc+j:], t.ldc)
}
