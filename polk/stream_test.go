package polk

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk/literal"
)

// TestHardStreams feeds streams that make K_DD singular or trivial. On every
// step all numbers must be finite and the budget kept; at the end the order
// must be what the stream allows, and what was folded or dropped be counted.
func TestHardStreams(t *testing.T) {
	if raceEnabled {
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
					if s.folds && l == logistic && k == 0 && health["folded"]+health["dropped"] == 0 {
						t.Errorf("%s: nothing was folded: %v", name, health)
					}
				}
			}
		}
	}
}

// TestEqualFeatures: when all samples have the same features and every class
// is as frequent, the best function is a constant, and the softmax on it gives
// every class 1/C.
func TestEqualFeatures(t *testing.T) {
	cfg := testConfig(logistic)
	cfg.LearningRate = Inverse{Initial: 1, Horizon: 20}
	l := mustNew(t, cfg)
	for range 300 {
		mustStep(t, l, 3, []float32{1, 1, 1, 1, 1, 1}, []float64{0, 1, 2})
	}
	p := make([]float64, 3)
	loss.MultiLogistic{}.Probabilities(p, literal.Value(l.Expansion(), []float32{1, 1}))
	for _, v := range p {
		if math.Abs(v-1./3) > 1e-3 {
			t.Fatalf("probabilities %v", p)
		}
	}
}

// TestOneClass: only one of the classes ever appears. The learner predicts it
// and, under the hinge, stops to change once the margin is met.
func TestOneClass(t *testing.T) {
	for _, cost := range []loss.Loss{hinge, logistic} {
		cfg := testConfig(cost)
		cfg.Regularizer = 0
		m := newMixture(rand.New(rand.NewPCG(6, 6)), 2, 1)
		l := mustNew(t, cfg)
		quiet := 0
		for range 400 {
			x, _ := m.batch(4)
			mustStep(t, l, 4, x, []float64{2, 2, 2, 2})
			checkFinite(t, l)
			if quiet++; l.Last().Active > 0 {
				quiet = 0
			}
		}
		if c := loss.Predict(literal.Value(l.Expansion(), []float32{float32(m.means[0][0]), float32(m.means[0][1])})); c != 2 {
			t.Errorf("%s: class %d is predicted", cost.Name(), c)
		}
		if cost == hinge && quiet == 0 {
			t.Errorf("the hinge still has violated margins after %d steps", l.Steps())
		}
	}
}

// TestOneSample: a single step on a single sample gives −η·ℓ'(0)·κ(x, ·).
func TestOneSample(t *testing.T) {
	l := mustNew(t, testConfig(logistic))
	mustStep(t, l, 1, []float32{1, 2}, []float64{1})
	want := []float64{-2. / 3, 4. / 3, -2. / 3}
	for q, w := range l.Expansion().Weights(0) {
		if l.Expansion().Order() != 1 || math.Abs(w-want[q]) > 1e-15 {
			t.Errorf("order %d, weights %v, want %v", l.Expansion().Order(), l.Expansion().W, want)
		}
	}
}

// TestHugeBudget: a budget above ‖f̃‖ empties the dictionary at every step
// (assumption mnist-parsimony, as printed), and the error is ‖f̃‖.
func TestHugeBudget(t *testing.T) {
	cfg := testConfig(logistic)
	cfg.Budget = Parsimony(100)
	l := mustNew(t, cfg)
	m := newMixture(rand.New(rand.NewPCG(7, 7)), 2, 3)
	for range 50 {
		x, y := m.batch(8)
		u := newTilde(l, 8, x, y)
		mustStep(t, l, 8, x, y)
		checkFinite(t, l)
		norm := math.Sqrt(u.f.NormSq(1))
		if s := l.Last(); l.Expansion().Order() != 0 || s.Removed != 8 || math.Abs(s.Error-norm) > 1e-3*norm {
			t.Fatalf("step %d: order %d, %d removed, error %v, ‖f̃‖ = %v", l.Steps(), l.Expansion().Order(), s.Removed, s.Error, norm)
		}
	}
}

// TestNoBudget: with K = 0 a stream of 60 points, a third of them copies, is
// learned as by stochastic gradient descent without projection: all distinct
// points are kept and f is the sum of all steps.
func TestNoBudget(t *testing.T) {
	for _, cost := range []loss.Loss{hinge, logistic} {
		cfg := testConfig(cost)
		cfg.Kernel, cfg.Dim, cfg.Budget = kernel.Gaussian{Bandwidth: 0.3}, 3, Parsimony(0)
		r := rand.New(rand.NewPCG(8, 8))
		m := newMixture(r, 3, 3)
		x, y := m.batch(60)
		for i := 3; i < 60; i += 3 {
			copy(x[i*3:i*3+3], x[(i-1)*3:])
		}
		l := mustNew(t, cfg)
		plain := kernel.NewExpansion(cfg.Kernel, 3, 3)
		distinct := map[[3]float32]bool{}
		g := make([]float64, 3)
		for i := range 60 {
			xi := x[i*3 : i*3+3]
			value := cost.Gradient(g, literal.Value(plain, xi), y[i])
			for q := range g {
				g[q] *= -2
			}
			for j := range plain.W {
				plain.W[j] *= 1 - 2*cfg.Regularizer
			}
			if value > 0 {
				plain.Append(xi, g)
				distinct[[3]float32(xi)] = true
			}
			mustStep(t, l, 1, xi, y[i:i+1])
			checkFinite(t, l)
		}
		if l.Expansion().Order() != len(distinct) {
			t.Errorf("%s: order %d, want %d distinct points", cost.Name(), l.Expansion().Order(), len(distinct))
		}
		for range 100 {
			p, _ := m.batch(1)
			got, want := literal.Value(l.Expansion(), p), literal.Value(plain, p)
			for q := range got {
				if math.Abs(got[q]-want[q]) > 1e-9 {
					t.Fatalf("%s: f(%v) = %v, without projection %v", cost.Name(), p, got, want)
				}
			}
		}
	}
}

// TestNoBudgetInThePlane: K = 0 in the plane with a wide kernel, where far
// fewer than 60 elements are independent to rounding.
func TestNoBudgetInThePlane(t *testing.T) {
	for _, width := range []float64{0.3, 1, 5} {
		cfg := testConfig(logistic)
		cfg.Kernel, cfg.Budget = kernel.Gaussian{Bandwidth: width}, Parsimony(0)
		l := mustNew(t, cfg)
		m := newMixture(rand.New(rand.NewPCG(9, 9)), 2, 3)
		for range 30 {
			x, y := m.batch(2)
			mustStep(t, l, 2, x, y)
			checkFinite(t, l)
		}
		if h := l.Health(); width == 5 && h["folded"]+h["dropped"] == 0 {
			t.Errorf("bandwidth %v: order %d, nothing folded: %v", width, l.Expansion().Order(), h)
		}
		t.Logf("bandwidth %v: order %d of 60, largest weight %.3g, %v", width, l.Expansion().Order(), slices.Max(l.Expansion().W), l.Health())
	}
}
