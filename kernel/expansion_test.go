package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

func randomExpansion(r *rand.Rand, k Kernel, order, dim, outputs int) *Expansion {
	e := NewExpansion(k, dim, outputs)
	appendRandom(r, e, order)
	return e
}

func appendRandom(r *rand.Rand, e *Expansion, n int) {
	w := make([]float64, e.Outputs)
	for range n {
		for q := range w {
			w[q] = r.NormFloat64()
		}
		e.Append(randomPoints(r, 1, e.Dict.Dim(), 1), w)
	}
}

// score returns f_c(x) by its definition, and the sum of the terms' magnitudes.
func score(e *Expansion, x []float32, c int) (sum, size float64) {
	for j := range e.Order() {
		v := e.Weights(j)[c] * e.Kernel.Eval(e.Dict.At(j), x)
		sum += v
		size += math.Abs(v)
	}
	return sum, size
}

// TestScorer compares scores with direct float64 sums; the tolerance is that
// of float32, 2e-6 of the sum of the terms' magnitudes. The sizes cross the
// boundary of scoreRows, and one Scorer serves expansions of changing shape.
func TestScorer(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	var s Scorer
	var worst float64
	for _, c := range []struct {
		k                      Kernel
		n, order, dim, outputs int
	}{
		{Gaussian{1}, 1, 1, 1, 1},
		{Gaussian{2}, 10, 300, 17, 10},
		{Polynomial{1, 2}, 33, 20, 3, 3},
		{Gaussian{0.6}, 255, 5, 2, 5},
		{Gaussian{0.6}, 256, 40, 2, 1},
		{Gaussian{0.6}, 257, 64, 2, 5},
		{Gaussian{0.6}, 513, 7, 2, 2},
		{Gaussian{0.6}, 5, 0, 2, 3},
		{Gaussian{0.6}, 0, 4, 2, 3},
	} {
		e := randomExpansion(r, c.k, c.order, c.dim, c.outputs)
		x := randomPoints(r, c.n, c.dim, 1)
		got := slices.Repeat([]float64{math.NaN()}, c.n*c.outputs)
		s.Scores(e, c.n, x, got, 1)
		for i := range c.n {
			for q := range c.outputs {
				want, size := score(e, x[i*c.dim:(i+1)*c.dim], q)
				if d := math.Abs(got[i*c.outputs+q] - want); !(d <= 2e-6*size) {
					t.Fatalf("%+v: f_%d of point %d is %v, want %v", c, q, i, got[i*c.outputs+q], want)
				} else if size > 0 {
					worst = max(worst, d/size)
				}
			}
		}
		for _, threads := range []int{2, 3} {
			again := make([]float64, len(got))
			new(Scorer).Scores(e, c.n, x, again, threads)
			if !slices.Equal(got, again) {
				t.Errorf("%+v: %d threads give other scores than one", c, threads)
			}
		}
	}
	t.Logf("largest difference of a score, relative to the sum of magnitudes: %.1e", worst)
}

// TestNormSq compares NormSq with the double sum. The orders cross scoreRows.
func TestNormSq(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for _, k := range []Kernel{Gaussian{0.7}, Polynomial{1, 2}} {
		for _, order := range []int{0, 1, 2, 37, 255, 256, 257, 520} {
			e := randomExpansion(r, k, order, 3, 4)
			var want, size float64
			for c := range e.Outputs {
				for j := range order {
					v, s := score(e, e.Dict.At(j), c)
					want += e.Weights(j)[c] * v
					size += math.Abs(e.Weights(j)[c]) * s
				}
			}
			for _, threads := range []int{1, 2} {
				if got := e.NormSq(threads); !(math.Abs(got-want) <= 1e-13*size) || !(got >= 0) {
					t.Errorf("%s, order %d, %d threads: ‖f‖² = %v, want %v", k.Name(), order, threads, got, want)
				}
			}
		}
	}
}

// TestScore: a point's scores have the same bits alone as among many points.
func TestScore(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	e := randomExpansion(r, Gaussian{Bandwidth: 1}, 30, 3, 4)
	const n = 17
	x := randomPoints(r, n, 3, 1)
	want := make([]float64, n*4)
	new(Scorer).Scores(e, n, x, want, 1)
	for i := range n {
		if got := e.Score(x[3*i : 3*i+3]); !slices.Equal(got, want[4*i:4*i+4]) {
			t.Errorf("scores of point %d are %v, want %v", i, got, want[4*i:4*i+4])
		}
	}
	mustPanic(t, func() { e.Score(x[:4]) })
}

// TestScorersShareAnExpansion: goroutines with a Scorer each read one expansion at the same time,
// which the race detector checks.
func TestScorersShareAnExpansion(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	const n = 300
	x := randomPoints(r, n, 2, 1)
	for _, k := range []Kernel{Gaussian{Bandwidth: 1}, Polynomial{1, 2}, diagonal{Scale: []float64{1, 1}}} {
		e := randomExpansion(r, k, 40, 2, 3)
		scores := make([][]float64, 3)
		var wg sync.WaitGroup
		for i := range scores {
			scores[i] = make([]float64, n*3)
			wg.Go(func() { new(Scorer).Scores(e, n, x, scores[i], 2); e.NormSq(2) })
		}
		wg.Wait()
		if !slices.Equal(scores[0], scores[1]) || !slices.Equal(scores[0], scores[2]) {
			t.Errorf("%s: the scores differ", k.Name())
		}
	}
}

// TestFloat32Suffices: float32 suffices if all weights are 0, or if their squares add up to
// between 2⁻²⁰⁰ and 2²⁰⁰.
func TestFloat32Suffices(t *testing.T) {
	for _, c := range []struct {
		w    []float64
		want bool
	}{
		{nil, true}, {[]float64{0, 0}, true}, {[]float64{0, 0x1p-600}, false}, // the square underflows
		{[]float64{0x1p-100}, true}, {[]float64{0x1p-101}, false}, {[]float64{0x1p100}, true}, {[]float64{0x1p101}, false},
		{[]float64{math.NaN()}, false},
	} {
		if got := float32Suffices(Gaussian{1}, c.w); got != c.want {
			t.Errorf("weights %v: %v, want %v", c.w, got, c.want)
		}
	}
	if float32Suffices(Polynomial{1, 2}, nil) {
		t.Error("float32 is said to suffice for a polynomial kernel")
	}
	if product32 != ScoreTolerance/2 {
		t.Errorf("a kernel value errs by up to %v, half of the scores' tolerance is %v", product32, ScoreTolerance/2)
	}
}
