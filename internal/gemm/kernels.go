package gemm

import "sync"

//go:generate go run -C _asm . -out ../asm_amd64.s -stubs ../asm_amd64.go -pkg gemm
//go:generate go run -C _asm ./arm64 -out ../asm_arm64.s -stubs ../asm_arm64.go

// dotTile holds the dot products of up to 6 rows of A with up to 4 rows of B, in rows of 4.
type dotTile[T Float] [6 * 4]T

// kernels are the routines of one backend for one element type.
type kernels[T Float] struct {
	name  string
	mr    int // rows of a tile
	nr    int // columns of a tile: the width of a panel
	lanes int // columns of a vector, dividing nr

	// tile computes C ← α·A·P + β·C for rows ≤ mr rows of A and the first
	// cols ≤ nr columns of a panel P (k×nr, k > 0). With β = 0, C is not read.
	tile func(rows, cols, k int, a []T, lda int, p []T, alpha, beta T, c []T, ldc int)

	// dots computes out[4i+j] ← a_i·b_j for ra ≤ dotA rows of A and rb rows
	// of B, where rb is dotB or 1.
	dots       func(ra, rb, k int, a []T, lda int, b []T, ldb int, out *dotTile[T])
	dotA, dotB int

	// gauss computes c[j] ← exp(−gamma·max(0, na + nb[j] − 2c[j])).
	gauss func(c, nb []T, na, gamma T)

	// exp computes dst[i] ← exp(src[i]).
	exp func(dst, src []T)

	// sumSquares returns Σ x[i]², summed in float64.
	sumSquares func(x []T) float64

	// product computes dst[i] ← x[i]·y[i].
	product func(dst, x, y []T)

	// transpose writes the transpose of side rows of src, side·blocks columns
	// each, to the first lanes of a panel. It may be nil.
	transpose func(blocks int, src []T, lds int, dst []T)
	side      int

	tasks sync.Pool // of *task[T]
}

// vectors are the float64 routines other than the products.
type vectors struct {
	dot  func(x, y []float64) float64
	axpy func(alpha float64, x, y []float64)

	// largest computes y[i] ← x[i] if that is greater than y[i].
	largest func(x, y []float64)
}

// backend holds the routines of one backend.
type backend struct {
	k32 *kernels[float32]
	k64 *kernels[float64]
	v   *vectors
}

// active is the backend in use; tests switch it.
var active = backends()[0]

func kernelsOf[T Float]() *kernels[T] {
	if k, ok := any(active.k32).(*kernels[T]); ok {
		return k
	}
	return any(active.k64).(*kernels[T])
}

// packRows writes n rows of src, k columns each, as panels of cols ≤ nr rows.
// Panels are stride elements apart; the lanes beyond a panel's rows are zero.
func (kr *kernels[T]) packRows(dst []T, stride, cols int, src []T, lds, n, k int) {
	for i := 0; i < n; i += cols {
		kr.packPanel(dst[i/cols*stride:][:k*kr.nr], src[i*lds:], lds, min(cols, n-i), k)
	}
}

// packColumns writes n columns of src, k rows each, as panels of nr columns, one after
// the other. The lanes beyond the last panel's columns are zero.
func (kr *kernels[T]) packColumns(dst, src []T, lds, n, k int) {
	nr := kr.nr
	for j := 0; j < n; j += nr {
		panel, cols := dst[j*k:(j+nr)*k], min(nr, n-j)
		if cols < nr {
			clear(panel)
		}
		for q := range k {
			copy(panel[q*nr:q*nr+cols], src[q*lds+j:])
		}
	}
}

// packPanel writes rows ≤ nr rows of src as one panel.
func (kr *kernels[T]) packPanel(dst, src []T, lds, rows, k int) {
	nr := kr.nr
	if rows < nr {
		clear(dst)
	}
	i := 0
	if kr.transpose != nil && k >= kr.side {
		blocks := k / kr.side
		for ; i+kr.side <= rows; i += kr.side {
			kr.transpose(blocks, src[i*lds:], lds, dst[i:])
			for r := range kr.side {
				packRow(dst[i+r:], nr, src[(i+r)*lds:(i+r)*lds+k], blocks*kr.side)
			}
		}
	}
	for ; i < rows; i++ {
		packRow(dst[i:], nr, src[i*lds:i*lds+k], 0)
	}
}

// packRow writes one row from column q on.
func packRow[T Float](dst []T, nr int, row []T, q int) {
	for ; q < len(row); q++ {
		dst[q*nr] = row[q]
	}
}

// copyTile copies a partial tile to or from a whole tile, for kernels without masks.
func copyTile[T Float](dst []T, ldd int, src []T, lds, rows, cols int) {
	for i := range rows {
		to := dst[i*ldd:][:cols]
		//lint:ignore S1001 this is faster than copy for so few
		for j, v := range src[i*lds:][:cols] {
			to[j] = v
		}
	}
}
