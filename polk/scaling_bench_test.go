package polk

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"polkrepro/kernel"
	"polkrepro/loss"
)

// steadyOrder is a budget that holds the model order near Order without the
// swings of holdOrder: it rises with a high power of the order, about a level
// that is learned slowly.
type steadyOrder struct {
	l     **Learner
	order int
	level *float64
}

func (b steadyOrder) Epsilon(float64) float64 {
	r := float64((*b.l).Expansion().Order()) / float64(b.order)
	if r > 0.8 {
		*b.level *= math.Pow(r, 0.2)
	}
	return *b.level * math.Pow(r, 4)
}
func (steadyOrder) Validate() error { return nil }

// A scaled problem is what a step's time depends on: the mini-batch n, the
// model order M, the number of features p and of classes C.
type scaled struct {
	cost    loss.Loss
	n       int
	order   int
	p       int
	classes int

	learner *Learner
	mixture *mixture
	r       *rand.Rand
}

// start makes the learner and trains it to its model order and beyond.
func (q *scaled) start(b *testing.B) {
	q.r = rand.New(rand.NewPCG(uint64(q.order), uint64(q.p)))
	q.mixture = newMixture(q.r, q.p, q.classes)
	q.mixture.spread = 1
	width := math.Sqrt(2*float64(q.p)) / 2
	if q.p == 2 {
		width = 4 / math.Sqrt(float64(q.order)) // about one neighbour within a bandwidth
	}
	cfg, level := testConfig(q.cost), 0.1
	cfg.Kernel, cfg.Classes, cfg.Dim, cfg.Regularizer = kernel.Gaussian{Bandwidth: width}, q.classes, q.p, 1e-6
	cfg.LearningRate, cfg.Budget, cfg.Threads = Constant(6), steadyOrder{&q.learner, q.order, &level}, 1
	q.learner = mustNew(b, cfg)
	for range 50 + 4*q.order/q.n {
		x, y := q.draw()
		mustStep(b, q.learner, q.n, x, y)
	}
}

// draw draws a mini-batch, a fifth of whose labels are wrong.
func (q *scaled) draw() ([]float32, []float64) {
	x, y := q.mixture.batch(q.n)
	for i := range y {
		if q.r.IntN(5) == 0 {
			y[i] = float64(q.r.IntN(q.classes))
		}
	}
	return x, y
}

// bench times steps at steady state on one thread, on mini-batches drawn
// before.
func (q *scaled) bench(b *testing.B) {
	if q.learner == nil {
		q.start(b)
	}
	xs, ys := make([][]float32, b.N), make([][]float64, b.N)
	for i := range xs {
		xs[i], ys[i] = q.draw()
	}
	i := 0
	var t stepTimer
	t.run(b, q.learner, func() ([]float32, []float64) {
		i++
		return xs[i-1], ys[i-1]
	})
	t.report(b)
}

// BenchmarkScaling varies one of n, M, p and C at a time.
func BenchmarkScaling(b *testing.B) {
	base := scaled{n: 32, order: 512, p: 128, classes: 8}
	for _, cost := range []loss.Loss{hinge, logistic} {
		base.cost = cost
		vary := func(name string, values []int, set func(q *scaled, v int)) {
			for _, v := range values {
				q := base
				set(&q, v)
				b.Run(fmt.Sprintf("loss=%s/vary=%s/n=%d/M=%d/p=%d/C=%d", cost.Name(), name, q.n, q.order, q.p, q.classes), q.bench)
			}
		}
		vary("n", []int{8, 16, 32, 64, 128}, func(q *scaled, v int) { q.n = v })
		vary("M", []int{64, 128, 256, 512, 1024, 2048}, func(q *scaled, v int) { q.order = v })
		vary("p", []int{2, 8, 32, 128, 512, 1024}, func(q *scaled, v int) { q.p = v })
		vary("C", []int{2, 4, 8, 16, 32}, func(q *scaled, v int) { q.classes = v })
	}
}
