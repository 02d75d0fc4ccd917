//go:build (amd64 || arm64) && !noasm && gc

package gemm

import (
	"math/bits"
	"sync"
)

// routines are the assembly routines of one element type that every instruction set has. They
// take addresses, and strides in bytes.
type routines[T Float] struct {
	tile    func(rows, vecs, k int, a *T, lda int, p, c *T, ldc int, alpha, beta T, last int)
	gauss   func(n int, c, nb *T, na, negGamma T)
	exp     func(n int, dst, src *T)
	product func(n int, x, y, dst *T)
	pack    func(blocks int, src *T, lds int, dst *T)
}

// assembled completes kr with assembly routines. masked tells whether tile stores part of a
// vector. gauss, exp and product take a multiple of unit elements, a power of two; rest, which
// may be nil if unit is 1, computes the others.
func assembled[T Float](kr *kernels[T], r routines[T], masked bool, unit int, rest *kernels[T]) *kernels[T] {
	size, lanes, shift := sizeOf[T](), kr.lanes, bits.TrailingZeros(uint(kr.lanes))
	tiles := sync.Pool{New: func() any {
		t := make([]T, kr.mr*kr.nr)
		return &t
	}}
	kr.tile = func(rows, cols, k int, a []T, lda int, p []T, alpha, beta T, c []T, ldc int) {
		vecs := (cols + lanes - 1) >> shift // no division: tiles are small
		last := cols - lanes*(vecs-1)
		if masked || last == lanes {
			r.tile(rows, vecs, k, &a[0], size*lda, &p[0], &c[0], size*ldc, alpha, beta, last)
			return
		}
		// A masked store is slow on some CPUs, and NEON has none: compute a whole tile and copy its part.
		whole := tiles.Get().(*[]T)
		t := *whole
		if beta != 0 {
			copyTile(t, kr.nr, c, ldc, rows, cols)
		}
		r.tile(rows, vecs, k, &a[0], size*lda, &p[0], &t[0], size*kr.nr, alpha, beta, lanes)
		copyTile(c, ldc, t, kr.nr, rows, cols)
		tiles.Put(whole)
	}
	kr.gauss = func(c, nb []T, na, gamma T) {
		n := len(c) &^ (unit - 1)
		if n > 0 {
			r.gauss(n, &c[0], &nb[0], na, -gamma)
		}
		if n < len(c) {
			rest.gauss(c[n:], nb[n:], na, gamma)
		}
	}
	kr.exp = func(dst, src []T) {
		n := len(dst) &^ (unit - 1)
		if n > 0 {
			r.exp(n, &dst[0], &src[0])
		}
		if n < len(dst) {
			rest.exp(dst[n:], src[n:])
		}
	}
	kr.product = func(dst, x, y []T) {
		n := len(dst) &^ (unit - 1)
		if n > 0 {
			r.product(n, &x[0], &y[0], &dst[0])
		}
		if n < len(dst) {
			rest.product(dst[n:], x[n:], y[n:])
		}
	}
	kr.transpose = func(blocks int, src []T, lds int, dst []T) { r.pack(blocks, &src[0], size*lds, &dst[0]) }
	return kr
}
