package online

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"polkrepro/kernel"
)

// problem returns m elements and n rows of dim features with noisy targets of c functions.
func problem(seed uint64, m, n, dim, c int, bandwidth float64) (f *kernel.Expansion, x []float32, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	f = kernel.NewExpansion(kernel.Gaussian{Bandwidth: bandwidth}, dim, c)
	for range n {
		at := len(x)
		for range dim {
			x = append(x, float32(rng.NormFloat64()))
		}
		for q := range c {
			y = append(y, math.Sin(2*float64(x[at]))+float64(q)*float64(x[at+dim-1])+0.1*rng.NormFloat64())
		}
	}
	for j := range m {
		f.Append(x[j*dim:(j+1)*dim], make([]float64, c))
	}
	return f, x, y
}

// sumUp returns the sums of all rows.
func sumUp(f *kernel.Expansion, x []float32, y []float64) *leastSquares {
	s, dim := newLeastSquares(f), f.Dict.Dim()
	for i := range len(x) / dim {
		s.add(x[i*dim:(i+1)*dim], y[i*f.Outputs:(i+1)*f.Outputs])
	}
	return s
}

// ridged returns the weights for the rows that take accepts, by gonum, and their mean squared error
// on the others.
func ridged(f *kernel.Expansion, x []float32, y []float64, ridge float64, take func(i int) bool) (w *mat.Dense, squares float64) {
	m, c, dim, n := f.Order(), f.Outputs, f.Dict.Dim(), len(x)/f.Dict.Dim()
	k, gram := mat.NewDense(n, m, nil), mat.NewDense(m, m, nil)
	for j := range m {
		for i := range n {
			k.Set(i, j, f.Kernel.Eval(x[i*dim:(i+1)*dim], f.Dict.At(j)))
		}
		for i := range m {
			gram.Set(i, j, ridge*f.Kernel.Eval(f.Dict.At(i), f.Dict.At(j)))
		}
		gram.Set(j, j, ridge*(1+jitterLeast))
	}
	right, w := mat.NewDense(m, c, nil), mat.NewDense(m, c, nil)
	for i := range n {
		if take(i) {
			row, target := mat.NewDense(1, m, k.RawRowView(i)), mat.NewDense(1, c, y[i*c:(i+1)*c])
			var outer, side mat.Dense
			outer.Mul(row.T(), row)
			side.Mul(row.T(), target)
			gram.Add(gram, &outer)
			right.Add(right, &side)
		}
	}
	if err := w.Solve(gram, right); err != nil {
		return w, math.Inf(1)
	}
	var f2 mat.Dense
	f2.Mul(k, w)
	for i := range n {
		for q := range c {
			if d := f2.At(i, q) - y[i*c+q]; !take(i) {
				squares += d * d
			}
		}
	}
	return w, squares
}

// The weights are those of ridge regression on all rows, with the ridge that fits the rows best
// which were left out, as gonum solves it.
func TestLeastSquares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, n := rapid.IntRange(1, 8).Draw(t, "m"), rapid.IntRange(40, 400).Draw(t, "n")
		dim, c := rapid.IntRange(1, 4).Draw(t, "dim"), rapid.IntRange(1, 3).Draw(t, "c")
		f, x, y := problem(rapid.Uint64().Draw(t, "seed"), m, n, dim, c, 0.5)
		ridge := sumUp(f, x, y).solve()
		out := func(i int) bool { return i%ridgeEvery == ridgeEvery-1 }
		_, chosen := ridged(f, x, y, ridge, func(i int) bool { return !out(i) })
		for _, other := range []float64{ridge * ridgeStep, ridge / ridgeStep} {
			// The jitter of K_DD, 1e-8, and the digits that gonum loses weigh as much as smaller ridges.
			if other < 1.5*ridgeMost && min(ridge, other) > 1e-6 {
				if _, squares := ridged(f, x, y, other, func(i int) bool { return !out(i) }); squares < chosen*(1-1e-6) {
					t.Fatalf("ridge %v: %v, with %v %v", ridge, chosen, other, squares)
				}
			}
		}
		want, _ := ridged(f, x, y, ridge, func(int) bool { return true })
		for i := range n {
			for q := range c {
				got, w := 0.0, 0.0
				for j := range m {
					k := f.Kernel.Eval(x[i*dim:(i+1)*dim], f.Dict.At(j))
					got, w = got+f.W[j*c+q]*k, w+want.At(j, q)*k
				}
				if !(math.Abs(got-w) <= 1e-3) { // the normal equations of K_XD, which gonum solves, lose half of the digits
					t.Fatalf("row %d, function %d: %v, want %v", i, q, got, w)
				}
			}
		}
	})
}

// A dictionary with equal elements has weights, too, and the number of threads changes no bit.
func TestLeastSquaresOfEqualElements(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	var want []float64
	for _, threads := range []int{1, 2, 3} {
		runtime.GOMAXPROCS(threads)
		f, x, y := problem(1, 60, 1000, 2, 2, 1)
		for j := range 30 {
			f.Append(f.Dict.At(j), make([]float64, 2))
		}
		sumUp(f, x, y).solve()
		got := make([]float64, len(y))
		f.Scores(1000, x, got, threads)
		squares := 0.0
		for i, v := range got {
			squares += (v - y[i]) * (v - y[i])
		}
		if rmse := math.Sqrt(squares / float64(len(y))); !(rmse < 0.15) {
			t.Errorf("RMSE %v, the noise is 0.1", rmse)
		}
		if want == nil {
			want = f.W
		} else if !slices.Equal(f.W, want) {
			t.Errorf("%d threads: other weights", threads)
		}
	}
}
