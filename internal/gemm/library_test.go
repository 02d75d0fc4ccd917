//go:build openblas && cgo

package gemm

import (
	"math/rand/v2"
	"testing"

	"polkrepro/internal/gemm/openblas"
)

// openBLAS reports whether the library is linked.
const openBLAS = true

func setOpenBLASThreads(n int) { openblas.SetThreads(n) }

func (p *product[T]) openBLAS() {
	openblas.MulABT(p.x.rows, p.y.rows, p.x.cols, 1, p.x.data, p.x.ld, p.y.data, p.y.ld, 0, p.c.data, p.c.ld)
}

// testLibrary compares this package's kernels with OpenBLAS.
func testLibrary[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 32))
	for _, s := range []shape{{700, 600, 100}, {64, 1100, 300}, {1100, 64, 300}, {515, 517, 130}} {
		a, b := randMatrix[T](rnd, s.m, s.k, 3), randMatrix[T](rnd, s.n, s.k, 0)
		want := randMatrix[T](rnd, s.m, s.n, 2)
		own := want.clone()
		openblas.MulABT(s.m, s.n, s.k, -1, a.data, a.ld, b.data, b.ld, 0.5, want.data, want.ld)
		MulABT(-1, a.view(), b.view(), 0.5, own.view(), 2)
		compare(t, own, want, s, 3)
	}
}

func TestLibrary(t *testing.T) {
	t.Run("float32", testLibrary[float32])
	t.Run("float64", testLibrary[float64])
}
