package polk

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// unscreened hides that a loss is flat, so that all scores are computed in
// float64.
type unscreened struct{ loss.Loss }

// TestScreeningChangesNothing: a learner takes the same steps with and without the float32
// screening, bit for bit, and the screening skips at least a quarter of the samples.
func TestScreeningChangesNothing(t *testing.T) {
	for _, dim := range []int{2, 40, 500} {
		cfg := testConfig(hinge)
		cfg.Dim = dim
		cfg.Kernel = kernel.Gaussian{Bandwidth: 0.8 * math.Sqrt(float64(dim))}
		plain := cfg
		plain.Loss = unscreened{hinge}
		m := newMixture(rand.New(rand.NewPCG(uint64(dim), 9)), dim, cfg.Classes)
		a, b := mustNew(t, cfg), mustNew(t, plain)
		checked, twice := 0, 0 // samples with scores in float64, and kernel values for those
		for range 120 {
			order := a.f.Order()
			m.step(t, 32, a, b)
			checked += len(a.rows)
			twice += len(a.rows) * order
			if a.Last() != b.Last() {
				t.Fatalf("dimension %d, step %d: %+v, without screening %+v", dim, a.Steps(), a.Last(), b.Last())
			}
		}
		sameState(t, "screening", a, b)
		if checked == 0 || checked > 120*32*3/4 {
			t.Errorf("dimension %d: %d of %d samples were computed in float64", dim, checked, 120*32)
		}
		if more := a.KernelEvals() - b.KernelEvals(); more != int64(twice) {
			t.Errorf("dimension %d: %d more kernel evaluations than without screening, want the %d made twice", dim, more, twice)
		}
	}
}

// TestNormSq: 1² + … + n² = n(n+1)(2n+1)/6.
func TestNormSq(t *testing.T) {
	var x []float32
	for n := range 12 {
		if got, want := normSq(x), float64(n*(n+1)*(2*n+1)/6); got != want {
			t.Errorf("1 … %d: %v, want %v", n, got, want)
		}
		x = append(x, float32(n+1))
	}
}

// slackLoss is flat, and the target is its slack.
type slackLoss struct{ loss.Loss }

func (slackLoss) Slack(_ []float64, y float64) float64 { return y }

// TestScreeningBound: the error of float32 scores is at most u·Σ_j max_c |w_jc|·κ(x, d_j), with
// u = ScoreError. The computed sum has a relative error of up to u itself. A sample is skipped if
// its slack exceeds the bound that follows from the two.
func TestScreeningBound(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 4))
	cfg := testConfig(slackLoss{logistic})
	l := mustNew(t, cfg)
	for range 20 {
		l.f.Append([]float32{float32(r.NormFloat64()), float32(r.NormFloat64())}, []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()})
	}
	far := 100.0 // the largest norm, to a percent, that has a bound: the bound grows with the norm
	for math.IsInf(kernel.ScoreError(cfg.Kernel, 20, 2, far), 1) {
		far *= 0.99
	}
	for _, far := range []float64{1, far} {
		l.norm2 = far * far
		unit := kernel.ScoreError(cfg.Kernel, 20, 2, math.Sqrt(l.norm2))
		const n = 8
		var x []float32
		var y []float64
		var want []int
		for i := range n {
			xi := []float32{float32(r.NormFloat64()), float32(r.NormFloat64())}
			var sum float64
			for j := range 20 {
				w := l.f.Weights(j)
				sum += max(math.Abs(w[0]), math.Abs(w[1]), math.Abs(w[2])) * cfg.Kernel.Eval(l.f.Dict.At(j), xi)
			}
			bound := unit * sum / (1 - unit)
			if i%2 == 0 {
				bound *= 1 - 1e-5
				want = append(want, i)
			} else {
				bound *= 1 + 1e-5
			}
			x, y = append(x, xi...), append(y, bound)
		}
		l.screen(n, x, y)
		if !slices.Equal(l.rows, want) {
			t.Errorf("an error of %v of the magnitudes: samples %v were not passed over, want %v", unit, l.rows, want)
		}
	}
	if unit := kernel.ScoreError(cfg.Kernel, 20, 2, far); !(unit > 1e-4) {
		t.Errorf("an error of %v of the magnitudes tells little", unit)
	}
}

// TestScreeningAnywhere: a sample that the float32 screening skips has a zero gradient, computed
// by definition, wherever the points lie: offset from the origin by 1 to 10⁸ times their spread,
// of magnitudes from 10⁻³⁰ to 10³⁰, with bandwidths from 10⁻³ to 10⁶ spreads. Some samples are
// skipped where the distances of the points are not large compared with the bandwidth.
func TestScreeningAnywhere(t *testing.T) {
	var passed int
	rapid.Check(t, func(t *rapid.T) {
		power := func(name string, least, most float64) float64 {
			return math.Pow(10, rapid.Float64Range(least, most).Draw(t, name))
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		magnitude, offset := power("magnitude", -30, 30), 0.0
		if rapid.Bool().Draw(t, "away") {
			offset = power("offset", 0, 8)
		}
		cfg := testConfig(hinge)
		cfg.Dim = rapid.SampledFrom([]int{1, 2, 30, 400}).Draw(t, "dim")
		cfg.Kernel = kernel.Gaussian{Bandwidth: magnitude * math.Sqrt(float64(cfg.Dim)) * power("bandwidth", -3, 6)}
		point := func() []float32 {
			x := make([]float32, cfg.Dim)
			for q := range x {
				x[q] = float32(magnitude * (offset + r.Float64()))
			}
			return x
		}
		l, err := New(cfg)
		testutil.NoError(t, err)
		for range rapid.IntRange(1, 40).Draw(t, "order") {
			l.f.Append(point(), []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()})
		}
		l = newLearner(cfg, l.f)
		const n = 16
		var x []float32
		y := make([]float64, n)
		for i := range n {
			if i%4 == 0 {
				x = append(x, l.f.Dict.At(r.IntN(l.f.Order()))...)
			} else {
				x = append(x, point()...)
			}
			y[i] = float64(r.IntN(3))
		}
		if err = l.check(n, x, y); err != nil {
			t.Fatal(err)
		}
		l.screen(n, x, y)
		screened := make(map[int]bool)
		for _, i := range l.rows {
			screened[i] = true
		}
		g := make([]float64, 3)
		for i := range n {
			if screened[i] {
				continue
			}
			passed++
			scores := testutil.Score(l.f, x[i*cfg.Dim:(i+1)*cfg.Dim])
			if cfg.Loss.Gradient(g, scores, y[i]); sumSquares(g) != 0 {
				t.Fatalf("sample %d of class %v is passed over, its scores are %v", i, y[i], scores)
			}
		}
	})
	if passed == 0 {
		t.Error("no sample was passed over")
	}
}
