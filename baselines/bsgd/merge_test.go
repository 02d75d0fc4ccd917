package bsgd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"polkrepro/baselines/learnertest"
	"polkrepro/internal/merged"
	"polkrepro/kernel"
	"polkrepro/polk"
)

// The resolution of the table suffices: over random arguments, the error of the interpolated
// degradation is less than 4e-3 of ‖α_p‖², and less than 2e-4 on average.
func TestTableError(t *testing.T) {
	start := time.Now()
	table := mergeLosses()
	t.Logf("table of %d values in %v at most", (tableK+1)*(tableR+1)*(tableC+1), time.Since(start))
	rng := rand.New(rand.NewPCG(3, 1))
	var worst, sum, binary float64
	const n = 50000
	for i := range n {
		r, c, kappa := rng.Float64(), 2*rng.Float64()-1, rng.Float64()
		if i%4 == 0 {
			c = math.Copysign(1, c)
		}
		e := math.Abs(table.at(r, c, kappa) - merged.Loss(r, c, kappa, merged.Point(r, c, kappa)))
		worst, sum = math.Max(worst, e), sum+e
		if i%4 == 0 {
			binary = math.Max(binary, e)
		}
	}
	t.Logf("interpolation error: worst %.1e (binary case %.1e), mean %.1e", worst, binary, sum/n)
	if !(worst < 4e-3 && sum/n < 2e-4) {
		t.Errorf("interpolation error %v, mean %v", worst, sum/n)
	}
}

// The best partner of the shortlist is the best of all partners in at least 99 % of the trials. In
// the others it costs at most 1e-3 of ‖α_p‖² more.
func TestShortlist(t *testing.T) {
	const trials, order = 200, 200
	other := 0
	for seed := range uint64(trials) {
		rng := rand.New(rand.NewPCG(seed, 7))
		m, g := randomModel(rng, order), newMerging(5)
		p := m.weakest(m.births)
		g.propose(m, p)
		best, found := candidate{loss: math.Inf(1)}, candidate{loss: math.Inf(1)}
		for j := range m.order() {
			if c := (candidate{index: j}); j != p {
				g.search(m, p, &c)
				if c.loss < best.loss {
					best = c
				}
			}
		}
		for _, c := range g.ranked {
			g.search(m, p, &c)
			if c.loss < found.loss {
				found = c
			}
		}
		if found.index != best.index {
			other++
		}
		if !(found.loss <= best.loss+1e-3) {
			t.Errorf("trial %d: shortlist costs %v, the best partner %v", seed, found.loss, best.loss)
		}
	}
	t.Logf("another partner than the full search in %d of %d", other, trials)
	if other > trials/100 {
		t.Errorf("another partner than the full search in %d of %d", other, trials)
	}
}

// randomModel draws points in a cube of side 2, with kernel bandwidth ½, and weights on five
// classes. Every other element has weights on two classes only, as a new element has.
func randomModel(rng *rand.Rand, order int) *model {
	const dim, classes = 3, 5
	m := newModel(kernel.Gaussian{Bandwidth: 0.5}, dim, classes, order)
	x := make([]float32, dim)
	for j := range order {
		for i := range x {
			x[i] = 2 * rng.Float32()
		}
		m.append(x)
		if j%2 == 0 {
			m.weights(rng.IntN(2))[j] = 1
			m.weights(2 + rng.IntN(3))[j] = -1
		} else {
			for c := range classes {
				m.weights(c)[j] = 2 * rng.NormFloat64()
			}
		}
		m.reweigh(j)
	}
	return m
}

// Duplicates merge without degradation, and with a budget of 1 distant points merge too.
func TestMergeExtremes(t *testing.T) {
	c := config(Merging, 1)
	l := learner(t, c)
	x := []float32{1, 2, 3, 4, 1, 2, 3, 4}
	for _, labels := range [][]float64{{0, 1}, {2, 0}, {1, 1}} {
		learnertest.Step(t, l, x, labels)
	}
	h := l.Health()
	if l.Expansion().Order() != 1 || h["maintenances"] == 0 || h["degradation"] > 1e-12 {
		t.Errorf("order %d, %v", l.Expansion().Order(), h)
	}
	far := []float32{1e3, 0, 0, 0}
	learnertest.Step(t, l, far, []float64{1})
	if err := sound(l); err != nil {
		t.Error(err)
	}
}

// TestMergeWithoutFiniteLoss: with weights whose squares overflow no merger has a finite loss, and
// the element leaves without one.
func TestMergeWithoutFiniteLoss(t *testing.T) {
	c := config(Merging, 3)
	c.Regularizer, c.LearningRate = 0, polk.Constant(1e200)
	l := learner(t, c)
	x := make([]float32, 6*c.Dim)
	for i := range 6 {
		x[i*c.Dim] = float32(3 * i) // each sample enters: its neighbour is of another class
	}
	learnertest.Step(t, l, x, []float64{0, 1, 2, 0, 1, 2})
	seen := make(map[float32]bool)
	for j := range l.Expansion().Order() {
		w := l.Expansion().Weights(j)
		if slices.ContainsFunc(w, func(v float64) bool { return v != 0 && math.Abs(v) != 1e200 }) || seen[l.Expansion().Dict.At(j)[0]] {
			t.Errorf("element %d has the weights %v", j, w)
		}
		seen[l.Expansion().Dict.At(j)[0]] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d elements, want 3", len(seen))
	}
}
