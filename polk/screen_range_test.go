package polk

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/internal/testutil"
	"polkrepro/kernel"
)

// TestScreeningAnywhere: a sample that the float32 screening passes over has no
// gradient by definition, wherever the points lie: offset from the origin by 1
// to 10⁸ times their spread, of magnitudes from 10⁻³⁰ to 10³⁰, with bandwidths
// from 10⁻³ to 10⁶ spreads. Where points are not far apart beside the bandwidth,
// some samples are passed over.
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
		if err != nil {
			t.Fatal(err)
		}
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
