package polk

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"polkrepro/internal/race"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// TestHardStreams feeds streams that make K_DD singular or trivial. After every step all numbers
// must be finite and the budget kept. At the end the order must be within the stream's bounds,
// and folded and dropped elements must have been counted.
func TestHardStreams(t *testing.T) {
	if race.Enabled {
		t.Skip("arithmetic alone")
	}
	sample := func(y float64, x ...float32) func(int) ([]float32, float64) {
		return func(int) ([]float32, float64) { return x, y }
	}
	cycle := func(points ...float32) func(int) ([]float32, float64) {
		n := len(points) / 2
		return func(i int) ([]float32, float64) { return points[2*(i%n) : 2*(i%n)+2], float64(i % 3) }
	}
	type stream struct {
		name        string
		next        func(i int) ([]float32, float64)
		least, most int // order at the end
		folds       bool
	}
	streams := []stream{
		{"the same point", sample(1, 0.3, 0.7), 1, 1, true},
		{"the zero vector", sample(2, 0, 0), 1, 1, true},
		{"the same point, labels in turn", func(i int) ([]float32, float64) { return []float32{1, 2}, float64(i % 3) }, 0, 1, true},
		{"−0 and +0", cycle(0, float32(math.Copysign(0, -1)), float32(math.Copysign(0, -1)), 0), 0, 1, true},
		{"a column of zeros", cycle(0, 1, 0, -1, 0, 3), 1, 3, false},
		{"huge features", cycle(3e38, 3e38, -3e38, 3e38, 1e20, 0), 1, 3, false},
		{"denormal features", cycle(1e-45, 0, 0, 1e-45, 2e-45, 0), 0, 1, true},
	}
	for e := 1; e <= 8; e++ { // squared distance to the other's span: 1.6·10^−2e
		d := float32(math.Pow(10, -float64(e)))
		streams = append(streams, stream{fmt.Sprintf("two points %.0e apart", d), cycle(0, 0, d, 0), 0, 2, e >= 7})
	}
	streams = append(streams,
		stream{"two points 1e-7 apart and others", cycle(1e-7, 0, 1, 1, 0, 0, -1, 1, 1e-7, 1e-7), 1, 5, true},
		stream{"a line of points 1e-3 apart", func(i int) ([]float32, float64) { return []float32{float32(i%50) / 1000, 0}, float64(i % 3) }, 0, 10, true},
	)
	for _, s := range streams {
		for _, l := range []loss.Loss{hinge, logistic} {
			for _, batch := range []int{1, 4, 32} {
				for _, k := range []float64{0, 1e-6, 0.05} {
					cfg := testConfig(l)
					cfg.Budget = Parsimony(k)
					name := fmt.Sprintf("%s, %s, batch %d, K = %v", s.name, l.Name(), batch, k)
					learner := mustNew(t, cfg)
					for i := 0; i < 1000/batch*batch; {
						var x []float32
						var y []float64
						for range batch {
							xi, yi := s.next(i)
							x, y = append(x, xi...), append(y, yi)
							i++
						}
						if _, err := learner.Step(t.Context(), batch, x, y); err != nil {
							t.Fatalf("%s, step %d: %v", name, learner.Steps(), err)
						}
						checkFinite(t, learner)
					}
					order, health := learner.Expansion().Order(), learner.Health()
					if order < s.least && k == 0 || order > s.most {
						t.Errorf("%s: order %d, want %d to %d; %v", name, order, s.least, s.most, health)
					}
					if s.folds && l == logistic && k == 0 && health.Folded+health.Dropped == 0 {
						t.Errorf("%s: nothing was folded: %v", name, health)
					}
				}
			}
		}
	}
}

// TestKernelOfSmallScale: κ(x, x) may be far from 1. Scaling all features by s
// scales a homogeneous polynomial kernel by s^(2·degree); with the learning
// rate and the budget scaled to match, the learner is the same one.
func TestKernelOfSmallScale(t *testing.T) {
	steps := func(scale float64) *Learner {
		cfg := testConfig(logistic)
		cfg.Dim, cfg.Kernel, cfg.Regularizer = 4, kernel.Polynomial{Degree: 3}, 0
		cfg.LearningRate = Constant(0.01 / math.Pow(scale, 6))
		cfg.Budget = budget(func() float64 { return 0.01 / math.Pow(scale, 3) })
		l := mustNew(t, cfg)
		m := newMixture(rand.New(rand.NewPCG(14, 14)), 4, 3)
		for range 60 {
			x, y := m.batch(4)
			for i := range x {
				x[i] *= float32(scale)
			}
			mustStep(t, l, 4, x, y)
		}
		return l
	}
	want := steps(1)
	for _, exp := range []int{-12, -5, 5, 12} { // powers of two, which round alike
		got := steps(math.Ldexp(1, exp))
		if got.f.Order() != want.f.Order() {
			t.Errorf("scale 2^%d: order %d, want %d", exp, got.f.Order(), want.f.Order())
			continue
		}
		got.komp.dict.load()
		if got.f.Order() != want.f.Order() || got.komp.dict.health.Dropped > 0 {
			t.Errorf("scale 2^%d: computing P afresh left %d of %d elements", exp, got.f.Order(), want.f.Order())
		}
	}
}
