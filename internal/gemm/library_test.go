//go:build openblas && cgo

package gemm

import (
	"math/rand/v2"
	"testing"

	"polkrepro/internal/gemm/openblas"
)

// testLibrary compares this package's kernels with OpenBLAS, called directly
// and by way of MulABT, at shapes that the library takes.
func testLibrary[T Float](t *testing.T) {
	defer func() { useOpenBLAS = true }()
	rnd := rand.New(rand.NewPCG(31, 32))
	for _, s := range []shape{{700, 600, 100}, {64, 1100, 300}, {1100, 64, 300}, {515, 517, 130}} {
		a, b := randMatrix[T](rnd, s.m, s.k, 3), randMatrix[T](rnd, s.n, s.k, 0)
		want := randMatrix[T](rnd, s.m, s.n, 2)
		own, one, two := want.clone(), want.clone(), want.clone()
		openblas.MulABT(s.m, s.n, s.k, -1, a.data, a.ld, b.data, b.ld, 0.5, want.data, want.ld)
		useOpenBLAS = false
		MulABT(s.m, s.n, s.k, -1, a.data, a.ld, b.data, b.ld, 0.5, own.data, own.ld, 2)
		useOpenBLAS = true
		if !forLibrary(s.m, s.n, s.k) {
			t.Fatalf("%v is not one of the library's", s)
		}
		MulABT(s.m, s.n, s.k, -1, a.data, a.ld, b.data, b.ld, 0.5, one.data, one.ld, 1)
		MulABT(s.m, s.n, s.k, -1, a.data, a.ld, b.data, b.ld, 0.5, two.data, two.ld, 2)
		compare(t, own, want, s, 3)
		compare(t, one, want, s, 3)
		for i, v := range one.data {
			if !sameBits(v, two.data[i]) {
				t.Fatalf("%v: two threads change the result", s)
			}
		}
	}
}

func TestLibrary(t *testing.T) {
	t.Run("float32", testLibrary[float32])
	t.Run("float64", testLibrary[float64])
}

func TestLibraryAllocs(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool drops items at random under the race detector")
	}
	p := newProduct[float64](600, 600, 100, 0, 2)
	if got := testing.AllocsPerRun(10, p.mulABT); got >= 1 {
		t.Errorf("%v allocations a call", got)
	}
}
