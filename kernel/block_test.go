package kernel

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// diagonal is a kernel as another package might define it. Its values can't be compared by ==.
type diagonal struct {
	Scale []float64 `json:"scale"` // one for each feature
}

func (diagonal) Name() string { return "test-diagonal" }

func (k diagonal) Eval(x, y []float32) float64 {
	var sum float64
	for i, s := range k.Scale {
		sum += s * float64(x[i]) * float64(y[i])
	}
	return math.Exp(sum)
}

func (k diagonal) Self(x []float32) float64 { return k.Eval(x, x) }

func (k diagonal) Validate() error {
	if len(k.Scale) == 0 {
		return errNoScale
	}
	return nil
}

// TestBlocksOfAnotherKernel: every value of a block is that of Eval, bit for bit, for any number
// of goroutines, and nothing outside the block is written.
func TestBlocksOfAnotherKernel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := diagonal{Scale: []float64{1, 0.5}}
		n, m := rapid.IntRange(0, 5).Draw(t, "n"), rapid.IntRange(0, 9).Draw(t, "m")
		ldd, threads := m+rapid.IntRange(0, 2).Draw(t, "gap"), rapid.IntRange(0, 12).Draw(t, "threads")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		x, p := randomPoints(r, n, 2, 1), pointsOf(randomPoints(r, m, 2, 1), m, 2)
		b64, b32 := blocks(p, k, x, ldd, threads)
		for i := range n {
			for j := range ldd {
				want := -1.0
				if j < m {
					want = k.Eval(x[2*i:2*i+2], p.At(j))
				}
				if b64[i*ldd+j] != want || b32[i*ldd+j] != float32(want) {
					t.Fatalf("κ(x_%d, p_%d) is %v and %v, want %v", i, j, b64[i*ldd+j], b32[i*ldd+j], want)
				}
			}
		}
	})
}

// shifted has all methods of the Gaussian kernel but is another kernel.
type shifted struct{ Gaussian }

func (k shifted) Eval(x, y []float32) float64 { return k.Gaussian.Eval(x, y) + 1 }

// TestEmbeddedKernel: a kernel that embeds a Gaussian is evaluated by its own Eval.
func TestEmbeddedKernel(t *testing.T) {
	b64, b32 := blocks(pointsOf([]float32{0}, 1, 1), shifted{Gaussian{1}}, []float32{0}, 1, 1)
	if b64[0] != 2 || b32[0] != 2 {
		t.Errorf("κ(0, 0) is %v and %v, want 2", b64[0], b32[0])
	}
}

// TestEvaluatorOfAnotherKernel: kernels that hold slices are evaluated correctly, also after the
// elements of a slice change.
func TestEvaluatorOfAnotherKernel(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	x := randomPoints(r, 20, 2, 1)
	v := NewEvaluator(2, 1<<20, x)
	e := randomExpansion(r, diagonal{Scale: []float64{1, 0.5}}, 7, 2, 3)
	for range 3 {
		asFromScratch(t, v, e, 2, 1, x)
		shake(r, e, 2, 1)
	}
	e.Kernel = diagonal{Scale: []float64{1, 0.25}}
	asFromScratch(t, v, e, 2, 1, x)
}

// TestDistanceSqOrder: distanceSq adds four sums in a fixed order, on which the bits of the
// recorded results depend. A single sum would lose every 1 beside 2⁵⁴.
func TestDistanceSqOrder(t *testing.T) {
	x, y := []float64{1 << 27, 1, 1, 1, 1, 1, 1, 1}, make([]float32, 8)
	if got := distanceSq(x, y); got != 1<<54+4 {
		t.Errorf("‖x‖² is 2⁵⁴ + %v, want 2⁵⁴ + 4", got-1<<54)
	}
	if got := distanceSq([]float64{1, 2, 3, 4, 5, 7}, []float32{0, 0, 1, 1, 9, 1}); got != 1+4+4+9+16+36 {
		t.Errorf("‖x − y‖² is %v, want 70", got)
	}
}

// TestDifferencesOnlyWhereTheyMatter: beyond the reach of the product, values are replaced by
// those of the summed differences, which are exact. Small values stay, but only if the product is
// accurate to 1/500 of every value.
func TestDifferencesOnlyWhereTheyMatter(t *testing.T) {
	const dim, n = 3, 60
	k := Gaussian{Bandwidth: 1e-3}
	for offset, small := range map[float32]float64{
		40:   1e-6, // the exponent errs by up to 5e-6
		4000: 0,    // by up to 0.05
	} {
		x := make([]float32, n*dim)
		for i := range n { // pairs at distances of up to 22 bandwidths, far from the origin
			for q := range dim {
				x[i*dim+q] = offset + float32(i*(q+1))*1e-4
			}
		}
		p := pointsOf(x, n, dim)
		got, product := make([]float64, n*n), make([]float64, n*n)
		wide := MatrixOf(n, dim, float64s(x))
		p.Block64(k, wide, MatrixOf(n, n, got), 1)
		p.p64.Gaussian(wide, k.Gamma(), MatrixOf(n, n, product), 1)
		stay := 0
		for i := range n {
			for j := range n {
				v, byProduct := got[i*n+j], product[i*n+j]
				exact := k.at(distanceSq(float64s(x[i*dim:(i+1)*dim]), p.At(j)))
				switch {
				case v != exact && v != byProduct:
					t.Errorf("offset %v: κ(x_%d, x_%d) is %v, by the product %v, by the differences %v", offset, i, j, v, byProduct, exact)
				case exact < small && v != byProduct:
					t.Errorf("offset %v: κ(x_%d, x_%d) is %v, and as small as that the product's %v should stay", offset, i, j, v, byProduct)
				case !(math.Abs(v-exact) <= min(1.0/(1<<35), exact/500)):
					t.Errorf("offset %v: κ(x_%d, x_%d) stays %v, and is %v", offset, i, j, v, exact)
				}
				if v != exact {
					stay++
				}
			}
		}
		if (stay > 0) != (small > 0) || stay == n*n {
			t.Errorf("offset %v: %d of %d values stay those of the product", offset, stay, n*n)
		}
	}
}

// TestShare: each point is given to exactly one goroutine.
func TestShare(t *testing.T) {
	for _, m := range []int{0, 1, 2, 7, 64} {
		for _, threads := range []int{0, 1, 2, 3, 7, 100} {
			times := make([]atomic.Int32, m)
			share(m, threads, func(from, to int) {
				for i := from; i < to; i++ {
					times[i].Add(1)
				}
			})
			for i := range times {
				if n := times[i].Load(); n != 1 {
					t.Errorf("%d points, %d threads: point %d is worked on %d times", m, threads, i, n)
				}
			}
		}
	}
}
