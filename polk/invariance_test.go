package polk

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk/literal"
)

// TestThreads: one thread and several give the same learner, bit for bit.
func TestThreads(t *testing.T) {
	for _, cost := range []loss.Loss{hinge, logistic} {
		cfg := testConfig(cost)
		cfg.Dim, cfg.Kernel, cfg.Budget = 20, kernel.Gaussian{Bandwidth: 4}, Parsimony(0.1)
		m := newMixture(rand.New(rand.NewPCG(10, 10)), 20, 3)
		m.spread = 1
		var learners []*Learner
		for _, threads := range []int{0, 1, 2, 3} {
			cfg.Threads = threads
			learners = append(learners, mustNew(t, cfg))
		}
		for range 40 {
			x, y := m.batch(32)
			for _, l := range learners {
				mustStep(t, l, 32, x, y)
			}
		}
		for i, l := range learners[1:] {
			sameState(t, fmt.Sprintf("%s, %d threads", cost.Name(), i+1), learners[0], l)
			if l.Last() != learners[0].Last() || l.komp.health != learners[0].komp.health || l.KernelEvals() != learners[0].KernelEvals() {
				t.Errorf("%s, %d threads: last step, health or evaluations differ", cost.Name(), i+1)
			}
		}
		t.Logf("%s: order %d", cost.Name(), learners[0].Expansion().Order())
	}
}

// sameFunctions compares two learners whose dictionaries correspond element by
// element, with weights to 1e-6 of the largest. class[c] is the class of b
// that is c in a.
func sameFunctions(t *testing.T, name string, a, b *Learner, class []int) {
	t.Helper()
	if a.f.Order() != b.f.Order() || a.Last().Removed != b.Last().Removed {
		t.Fatalf("%s, step %d: order %d and %d, removed %v and %v", name, a.Steps(), a.f.Order(), b.f.Order(), a.komp.removed, b.komp.removed)
	}
	var scale, diff float64
	for j := range a.f.Order() {
		for c, v := range a.f.Weights(j) {
			scale = max(scale, math.Abs(v))
			diff = max(diff, math.Abs(v-b.f.Weights(j)[class[c]]))
		}
	}
	if !(diff <= 1e-6*scale) {
		t.Fatalf("%s, step %d: weights differ by %v of %v", name, a.Steps(), diff, scale)
	}
}

// TestOrderOfFeatures: permuted columns give the same dictionary, element by
// element, and weights that differ by rounding.
func TestOrderOfFeatures(t *testing.T) {
	for _, k := range []kernel.Kernel{kernel.Gaussian{Bandwidth: 1.5}, kernel.Polynomial{Offset: 1, Degree: 2}} {
		r := rand.New(rand.NewPCG(11, 11))
		cfg := testConfig(logistic)
		cfg.Kernel, cfg.Dim = k, 7
		if _, ok := k.(kernel.Polynomial); ok {
			cfg.LearningRate, cfg.Budget = Constant(0.01), Parsimony(3)
		}
		m := newMixture(r, 7, 3)
		perm := r.Perm(7)
		a, b := mustNew(t, cfg), mustNew(t, cfg)
		removed := 0
		for range 60 {
			x, y := m.batch(4)
			z := make([]float32, len(x))
			for i := range x {
				z[i-i%7+perm[i%7]] = x[i]
			}
			mustStep(t, a, 4, x, y)
			mustStep(t, b, 4, z, y)
			removed += a.Last().Removed
			sameFunctions(t, k.Name(), a, b, []int{0, 1, 2})
			for j := range a.f.Order() {
				for i, v := range a.f.Dict.At(j) {
					if b.f.Dict.At(j)[perm[i]] != v {
						t.Fatalf("%s, step %d: element %d differs", k.Name(), a.Steps(), j)
					}
				}
			}
		}
		t.Logf("%s: order %d, %d removals", k.Name(), a.f.Order(), removed)
	}
}

// TestOrderOfClasses: permuted labels give permuted functions. The hinge
// starts from functions without ties, which it would break by index.
func TestOrderOfClasses(t *testing.T) {
	class := []int{2, 0, 1}
	for _, cost := range []loss.Loss{hinge, logistic} {
		r := rand.New(rand.NewPCG(12, 12))
		cfg := testConfig(cost)
		m := newMixture(r, 2, 3)
		f, g := kernel.NewExpansion(cfg.Kernel, 2, 3), kernel.NewExpansion(cfg.Kernel, 2, 3)
		for i := range 6 {
			w := []float64{r.Float64(), r.Float64(), r.Float64()}
			x := []float32{float32(i%3) - 1, float32(i / 3)}
			f.Append(x, w)
			g.Append(x, []float64{w[1], w[2], w[0]})
		}
		a, b := newLearner(cfg, f), newLearner(cfg, g)
		a.komp.load()
		b.komp.load()
		removed := 0
		for range 60 {
			x, y := m.batch(4)
			z := make([]float64, len(y))
			for i, v := range y {
				z[i] = float64(class[int(v)])
			}
			mustStep(t, a, 4, x, y)
			mustStep(t, b, 4, x, z)
			removed += a.Last().Removed
			sameFunctions(t, cost.Name(), a, b, class)
		}
		t.Logf("%s: order %d, %d removals", cost.Name(), a.f.Order(), removed)
	}
}

// TestPolynomialKernel learns two rings, which a polynomial of degree 2
// separates; its space has 6 dimensions, so that is the largest order.
func TestPolynomialKernel(t *testing.T) {
	cfg := testConfig(hinge)
	cfg.Classes, cfg.Kernel = 2, kernel.Polynomial{Offset: 1, Degree: 2}
	cfg.LearningRate, cfg.Budget = Constant(0.05), Parsimony(0.1)
	l := mustNew(t, cfg)
	r := rand.New(rand.NewPCG(13, 13))
	ring := func(n int) (x []float32, y []float64) {
		for range n {
			c, a := r.IntN(2), 2*math.Pi*r.Float64()
			radius := 1 + float64(c) + 0.2*r.Float64()
			x = append(x, float32(radius*math.Cos(a)), float32(radius*math.Sin(a)))
			y = append(y, float64(c))
		}
		return x, y
	}
	for range 500 {
		x, y := ring(8)
		mustStep(t, l, 8, x, y)
		checkFinite(t, l)
		if l.f.Order() > 6 {
			t.Fatalf("step %d: order %d in a space of dimension 6", l.Steps(), l.f.Order())
		}
	}
	x, y := ring(1000)
	wrong := 0
	for i := range y {
		if loss.Predict(literal.Value(l.f, x[2*i:2*i+2])) != int(y[i]) {
			wrong++
		}
	}
	if wrong > 10 {
		t.Errorf("%d of 1000 wrong", wrong)
	}
	t.Logf("order %d, %d of 1000 wrong, %v", l.f.Order(), wrong, l.Health())
}

// TestKernelOfSmallScale: κ(x, x) may be far from 1. Scaling all features by s
// scales a homogeneous polynomial kernel by s^(2·degree); with the learning
// rate and the budget scaled to match, the learner is the same one.
func TestKernelOfSmallScale(t *testing.T) {
	steps := func(scale float64) *Learner {
		cfg := testConfig(logistic)
		cfg.Dim, cfg.Kernel, cfg.Regularizer = 4, kernel.Polynomial{Degree: 3}, 0
		cfg.LearningRate = Constant(0.01 / math.Pow(scale, 6))
		cfg.Budget = fixedBudget(0.01 / math.Pow(scale, 3))
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
		if k := got.komp.inverse; k.order > 0 && !finishes(func() { got.komp.load() }) {
			t.Fatalf("scale 2^%d: computing P afresh does not end", exp)
		}
		if got.f.Order() != want.f.Order() || got.komp.health.Dropped > 0 {
			t.Errorf("scale 2^%d: computing P afresh left %d of %d elements", exp, got.f.Order(), want.f.Order())
		}
	}
}

type fixedBudget float64

func (b fixedBudget) Epsilon(float64) float64 { return float64(b) }
func (fixedBudget) Validate() error           { return nil }
