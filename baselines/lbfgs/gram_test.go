package lbfgs

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"polkrepro/internal/gemm"
	"polkrepro/internal/testutil"
	"polkrepro/kernel"
)

// samples returns n points of a C-class problem with overlapping classes and some duplicates.
func samples(r *rand.Rand, n, dim, classes int) (x []float32, y []float64) {
	x, y = make([]float32, n*dim), make([]float64, n)
	for i := range n {
		y[i] = float64(r.IntN(classes))
		for q := range dim {
			x[i*dim+q] = float32(r.Float64()*2 + y[i]*float64(q%2))
		}
		if i > 0 && r.IntN(8) == 0 {
			copy(x[i*dim:(i+1)*dim], x[r.IntN(i)*dim:])
		}
	}
	return x, y
}

func pointsOf(x []float32, dim int) *kernel.Points {
	p := kernel.NewPoints(dim)
	for i := range len(x) / dim {
		p.Append(x[i*dim : (i+1)*dim])
	}
	return p
}

// denseGram computes K with Eval alone.
func denseGram(k kernel.Kernel, x []float32, dim int) *mat.SymDense {
	n := len(x) / dim
	g := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			g.SetSym(i, j, k.Eval(x[i*dim:(i+1)*dim], x[j*dim:(j+1)*dim]))
		}
	}
	return g
}

func uniform(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 2*r.Float64() - 1
	}
	return v
}

// TestProducts compares products with K, stored or not, with gonum's, for sizes on both sides of
// block edges.
func TestProducts(t *testing.T) {
	const dim = 3
	k := kernel.Gaussian{Bandwidth: 0.6}
	ctx := context.Background()
	for _, n := range []int{1, 2, 255, 256, 257, 700, gramCols + 1} {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		x, _ := samples(r, n, dim, 3)
		points := pointsOf(x, dim)
		wide, err := newGram(ctx, Config{Kernel: k, Threads: 2}.withDefaults(), n, x, kernel.NewPoints(dim))
		testutil.NoError(t, err)
		narrow := newMatrix[float32](n, 2)
		points.Block32(k, gemm.MatrixOf(n, dim, x), narrow.k, 2)
		dense := denseGram(k, x, dim)
		for _, outputs := range []int{2, 5, 11} {
			v := uniform(r, outputs*n)
			var want mat.Dense
			want.Mul(mat.NewDense(outputs, n, v), dense)
			got := make([]float64, outputs*n)
			wide.mul(got, v)
			compare(t, "float64", got, want.RawMatrix().Data, 1e-12*float64(n))
			narrow.mul(got, v)
			compare(t, "float32", got, want.RawMatrix().Data, 2e-6*math.Sqrt(float64(n)))
			testutil.NoError(t, exactMul(ctx, gemm.MatrixOf(outputs, n, got), gemm.MatrixOf(outputs, n, v), k, points, x, 2))
			compare(t, "not stored", got, want.RawMatrix().Data, 1e-12*float64(n))
		}
	}
}

// TestMirror: K has the same bits as kernel blocks of all columns, also for samples far from the
// origin and for a polynomial kernel.
func TestMirror(t *testing.T) {
	const n, dim = 2*gramRows + 45, 5
	x, _ := samples(rand.New(rand.NewPCG(2, 2)), n, dim, 3)
	for i := range 40 * dim { // beyond the norms that a float32 product can reach
		x[7*i%len(x)] *= 300
	}
	points := pointsOf(x, dim)
	wide := make([]float64, len(x))
	kernel.Widen(wide, x)
	for _, k := range []kernel.Kernel{kernel.Gaussian{Bandwidth: 3}, kernel.Polynomial{Offset: 1, Degree: 3}} {
		want32, want64 := make([]float32, n*n), make([]float64, n*n)
		points.Block32(k, gemm.MatrixOf(n, dim, x), gemm.MatrixOf(n, n, want32), 1)
		points.Block64(k, gemm.MatrixOf(n, dim, wide), gemm.MatrixOf(n, n, want64), 1)
		for _, exact := range []int{n, n - 1} {
			c := Config{Kernel: k, Threads: 2, exactSize: exact}.withDefaults()
			g, err := newGram(t.Context(), c, n, x, kernel.NewPoints(dim))
			testutil.NoError(t, err)
			same := false
			switch m := g.(type) {
			case *matrix[float32]:
				same = slices.Equal(m.k.Data(), want32)
			case *matrix[float64]:
				same = slices.Equal(m.k.Data(), want64)
			}
			if !same {
				t.Errorf("%v, float64 up to %d: other bits than the blocks'", k, exact)
			}
		}
	}
}

func compare(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= tolerance) {
			t.Fatalf("%s: entry %d of %d is %v, want %v", what, i, len(want), got[i], v)
		}
	}
}

// TestGramStopsWithContext: both passes over K end with the context.
func TestGramStopsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	x := []float32{1, 2}
	points := pointsOf(x, 1)
	if _, err := newGram(ctx, Config{Kernel: kernel.Gaussian{Bandwidth: 1}}.withDefaults(), 2, x, kernel.NewPoints(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("kernel matrix: %v", err)
	}
	if err := exactMul(ctx, gemm.NewMatrix[float64](1, 2), gemm.NewMatrix[float64](1, 2), kernel.Gaussian{Bandwidth: 1}, points, x, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("product: %v", err)
	}
}
