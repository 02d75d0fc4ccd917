package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"polkrepro/internal/gemm"
)

// ulp is the relative spacing of float64.
const ulp = 0x1p-52

func randomPoints(r *rand.Rand, n, dim int, scale float64) []float32 {
	x := make([]float32, n*dim)
	for i := range x {
		x[i] = float32(scale * (2*r.Float64() - 1))
	}
	return x
}

func pointsOf(x []float32, n, dim int) *Points {
	p := NewPoints(dim)
	for i := range n {
		p.Append(x[i*dim : (i+1)*dim])
	}
	return p
}

func float64s(x []float32) []float64 {
	w := make([]float64, len(x))
	Widen(w, x)
	return w
}

// blocks returns both blocks of the points x and p, with row stride ldd. Entries that they do not
// write are −1.
func blocks(p *Points, k Kernel, x []float32, ldd, threads int) ([]float64, []float32) {
	n := len(x) / p.Dim()
	b64, b32 := slices.Repeat([]float64{-1}, n*ldd), slices.Repeat([]float32{-1}, n*ldd)
	p.Block64(k, MatrixOf(n, p.dim, float64s(x)), gemm.Strided(n, p.Len(), ldd, b64), threads)
	p.Block32(k, MatrixOf(n, p.dim, x), gemm.Strided(n, p.Len(), ldd, b32), threads)
	return b64, b32
}

func norm(x []float32) float64 {
	var s float64
	for _, v := range x {
		s += float64(v) * float64(v)
	}
	return math.Sqrt(s)
}

// roundoff bounds the difference between a block's entry and Eval, in units of the element type's
// spacing. It is the error of an inner product of dim terms and, for the Gaussian, of the
// cancellation in ‖x‖² + ‖y‖² − 2x·y, which enters the exponent.
func roundoff(k Kernel, x, y []float32) float64 {
	size := norm(x) + norm(y)
	terms := float64(len(x) + 8)
	switch k := k.(type) {
	case Gaussian:
		return k.Eval(x, y) * (8 + terms*k.Gamma()*size*size)
	case Polynomial:
		base := size*size + k.Offset + 1
		return float64(k.Degree) * terms * math.Pow(base, float64(k.Degree))
	}
	panic("kernel without a bound")
}

// TestBlocksAgreeWithEval compares both blocks with Eval, entry by entry, over dimensions and
// sizes on both sides of every vector width and tile edge. The float64 block may differ by the
// rounding of one inner product. With moderate exponents, as here, this is a few ulp of 1. The
// float32 block may differ by 1e-6, on a scale on which ‖x‖²/(2c²) is near 1.
func TestBlocksAgreeWithEval(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var worst64, worst32 float64
	for _, dim := range []int{1, 2, 3, 7, 8, 9, 16, 17, 64, 256, 784} {
		kernels := []Kernel{
			Gaussian{Bandwidth: math.Sqrt(float64(dim)) / 2},
			Polynomial{Offset: 1, Degree: 1},
			Polynomial{Offset: 0.5, Degree: 3},
		}
		for _, shape := range [][2]int{{1, 1}, {1, 9}, {2, 8}, {7, 33}, {32, 5}, {33, 100}} {
			n, m := shape[0], shape[1]
			for _, k := range kernels {
				scale := 1.0
				if _, ok := k.(Polynomial); ok {
					scale = 1 / math.Sqrt(float64(dim)) // keeps xᵀy within [−1, 1]
				}
				x, y := randomPoints(r, n, dim, scale), randomPoints(r, m, dim, scale)
				copy(y, x[:dim]) // an exact duplicate, where the exponent cancels
				p := pointsOf(y, m, dim)
				ldd := m + 3
				b64, b32 := blocks(p, k, x, ldd, 1)
				for i := range n {
					xi := x[i*dim : (i+1)*dim]
					for j := range m {
						want := k.Eval(xi, p.At(j))
						bound := ulp * roundoff(k, xi, p.At(j))
						d64, d32 := math.Abs(b64[i*ldd+j]-want), math.Abs(float64(b32[i*ldd+j])-want)
						if !(d64 <= bound) {
							t.Fatalf("%+v dim %d, %d×%d, (%d, %d): float64 block %v, Eval %v, differ by %.1e, bound %.1e", k, dim, n, m, i, j, b64[i*ldd+j], want, d64, bound)
						}
						if !(d32 <= 1e-6*max(1, want)) {
							t.Fatalf("%+v dim %d, %d×%d, (%d, %d): float32 block %v, Eval %v", k, dim, n, m, i, j, b32[i*ldd+j], want)
						}
						worst64, worst32 = max(worst64, d64/max(1, want)), max(worst32, d32/max(1, want))
					}
				}
				for i := range n { // the stride's padding is not written
					for j := m; j < ldd; j++ {
						if b64[i*ldd+j] != -1 || b32[i*ldd+j] != -1 {
							t.Fatalf("%+v dim %d: wrote past column %d", k, dim, m)
						}
					}
				}
			}
		}
	}
	if !(worst64 <= 64*ulp) {
		t.Errorf("float64 blocks differ from Eval by %.0f ulp", worst64/ulp)
	}
	t.Logf("largest differences from Eval: float64 block %.1f ulp, float32 block %.1e", worst64/ulp, worst32)
}

// TestEmptyBlocks: without points or without rows, nothing is written.
func TestEmptyBlocks(t *testing.T) {
	p := NewPoints(3)
	p.Block64(Gaussian{1}, gemm.NewMatrix[float64](2, 3), gemm.NewMatrix[float64](2, 0), 1)
	p.Block32(Gaussian{1}, gemm.NewMatrix[float32](2, 3), gemm.NewMatrix[float32](2, 0), 1)
	p.Append([]float32{1, 2, 3})
	p.Block64(Gaussian{1}, Matrix[float64]{}, Matrix[float64]{}, 1)
	p.Block32(Gaussian{1}, Matrix[float32]{}, Matrix[float32]{}, 1)
}

func TestEvalByHand(t *testing.T) {
	for _, c := range []struct {
		k    Kernel
		x, y []float32
		want float64
	}{
		{Gaussian{Bandwidth: 1}, []float32{0, 0}, []float32{1, 1}, math.Exp(-1)},
		{Gaussian{Bandwidth: 2}, []float32{3}, []float32{-1}, math.Exp(-2)},
		{Gaussian{Bandwidth: 0.6}, []float32{1, 2}, []float32{1, 2}, 1},
		{Gaussian{Bandwidth: 1}, []float32{1e30}, []float32{-1e30}, 0},
		{Polynomial{Offset: 1, Degree: 2}, []float32{1, 2}, []float32{3, 4}, 144},
		{Polynomial{Offset: 0, Degree: 3}, []float32{-1, 2}, []float32{3, 0.5}, -8},
		{Polynomial{Offset: 0.5, Degree: 1}, []float32{0}, []float32{7}, 0.5},
		{Polynomial{Offset: 1, Degree: 7}, []float32{1}, []float32{1}, 128},
	} {
		if got := c.k.Eval(c.x, c.y); !(math.Abs(got-c.want) <= 4*ulp*math.Abs(c.want)) {
			t.Errorf("%+v: κ(%v, %v) = %v, want %v", c.k, c.x, c.y, got, c.want)
		}
		if c.k.Eval(c.x, c.y) != c.k.Eval(c.y, c.x) {
			t.Errorf("%+v: κ(%v, %v) is not symmetric", c.k, c.x, c.y)
		}
	}
	if g := (Gaussian{Bandwidth: 4}).Gamma(); g != 0.03125 {
		t.Errorf("γ of bandwidth 4 is %v, want LIBSVM's 0.03125", g)
	}
}

// TestSelf: Self(x) equals Eval(x, x) exactly.
func TestSelf(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, k := range []Kernel{Gaussian{Bandwidth: 0.1}, Polynomial{Offset: 1, Degree: 3}, Polynomial{Degree: 2}} {
		for range 50 {
			x := randomPoints(r, 1, 1+r.IntN(9), 3)
			if k.Self(x) != k.Eval(x, x) {
				t.Errorf("%+v: Self(%v) = %v, Eval %v", k, x, k.Self(x), k.Eval(x, x))
			}
		}
	}
}

func TestEvalPanicsOnLengths(t *testing.T) {
	for _, k := range []Kernel{Gaussian{1}, Polynomial{1, 2}} {
		mustPanic(t, func() { k.Eval([]float32{1, 2}, []float32{1}) })
		mustPanic(t, func() { k.Eval([]float32{1}, []float32{1, 2}) })
	}
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if r := recover(); r != badLength {
			t.Errorf("panicked with %v, want %q", r, badLength)
		}
	}()
	f()
}

func TestValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		k  Kernel
		ok bool
	}{
		{Gaussian{0.6}, true}, {Gaussian{1e-300}, true},
		{Gaussian{}, false}, {Gaussian{-1}, false}, {Gaussian{nan}, false}, {Gaussian{inf}, false}, {Gaussian{-inf}, false},
		{Polynomial{0, 1}, true}, {Polynomial{1, 5}, true},
		{Polynomial{}, false}, {Polynomial{1, -2}, false}, {Polynomial{-1, 2}, false}, {Polynomial{nan, 2}, false}, {Polynomial{inf, 2}, false},
	} {
		if err := c.k.Validate(); (err == nil) != c.ok {
			t.Errorf("%s %+v: %v", c.k.Name(), c.k, err)
		}
	}
}
