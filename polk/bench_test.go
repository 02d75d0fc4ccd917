package polk

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"polkrepro/data"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk/internal/literal"
)

// streamLength is the number of mini-batches after which a benchmark's stream
// starts over.
const streamLength = 400

// steadyLearner returns a single-threaded learner that has reached about the given order, and a
// function that returns the mini-batches of 32 of its stream, which are drawn in advance. The
// samples come from a ten-class mixture with p features. A fifth of the labels are random, so the
// dictionary never settles.
func steadyLearner(b *testing.B, cost loss.Loss, order, p int) (*Learner, func() ([]float32, []float64)) {
	r := rand.New(rand.NewPCG(uint64(order), uint64(p)))
	m := newMixture(r, p, 10)
	m.spread = 1
	width := math.Sqrt(2*float64(p)) / 2
	if p == 2 {
		width = 4 / math.Sqrt(float64(order)) // about one neighbour within a bandwidth
	}
	cfg := testConfig(cost)
	eps := 0.1
	cfg.Kernel, cfg.Classes, cfg.Dim, cfg.Regularizer = kernel.Gaussian{Bandwidth: width}, 10, p, 1e-6
	cfg.LearningRate = Constant(6)
	l := mustNew(b, cfg)
	// The budget rises by a fifth if the last step ended above the order, and otherwise falls.
	l.cfg.Budget = budget(func() float64 {
		if l.Expansion().Order() > order {
			eps *= 1.2
		} else {
			eps /= 1.2
		}
		return eps
	})
	var xs [][]float32
	var ys [][]float64
	for range streamLength {
		x, y := m.batch(32)
		for i := range y {
			if r.IntN(5) == 0 {
				y[i] = float64(r.IntN(10))
			}
		}
		xs, ys = append(xs, x), append(ys, y)
	}
	for i := range 50 + order/8 {
		mustStep(b, l, 32, xs[i], ys[i])
	}
	i := 0
	return l, func() ([]float32, []float64) {
		i++
		return xs[i%streamLength], ys[i%streamLength]
	}
}

// A stepTimer adds up the times of the steps and the floor: on every sixteenth step, the time of
// its kernel evaluations, repeated on their own.
type stepTimer struct {
	floors          int
	active, rank, m int
	step, kernel    time.Duration
}

// timeSteps times b.N steps of l on the mini-batches that draw returns. It reports the metrics
// floor-ns/op, the time of a step's kernel evaluations; x-floor, the step's time divided by it;
// and averages over the steps: M, active, and rank, the number of elements that left or entered.
func timeSteps(b *testing.B, l *Learner, draw func() ([]float32, []float64)) {
	var t stepTimer
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		x, y := draw()
		order := l.f.Order()
		start := time.Now()
		mustStep(b, l, len(y), x, y)
		t.step += time.Since(start)
		t.m += order
		t.active += l.Last().Active
		t.rank += len(l.komp.takenOld) + len(l.komp.kept)
		if i%16 == 0 {
			b.StopTimer()
			t.floor(l, len(y), x)
			b.StartTimer()
		}
	}
	b.StopTimer()
	n := float64(b.N)
	step := float64(t.step.Nanoseconds()) / n
	floor := float64(t.kernel.Nanoseconds()) / float64(t.floors)
	b.ReportMetric(floor, "floor-ns/op")
	b.ReportMetric(step/floor, "x-floor")
	b.ReportMetric(float64(t.m)/n, "M")
	b.ReportMetric(float64(t.active)/n, "active/op")
	b.ReportMetric(float64(t.rank)/n, "rank/op")
}

// floor evaluates the n×M kernel block alone.
func (t *stepTimer) floor(l *Learner, n int, x []float32) {
	m := l.f.Order()
	k64, x64 := make([]float64, n*m), make([]float64, len(x))
	kernel.Widen(x64, x)
	for i := range k64 { // avoids page faults while the clock runs
		k64[i] = 1
	}
	t.floors++
	start := time.Now()
	l.f.Dict.Block64(l.cfg.Kernel, gemm.MatrixOf(n, l.cfg.Dim, x64), gemm.MatrixOf(n, m, k64), l.cfg.Threads)
	t.kernel += time.Since(start)
}

// BenchmarkStep times a step on a mini-batch of 32 at steady state, on one
// thread.
func BenchmarkStep(b *testing.B) {
	for _, cost := range []loss.Loss{hinge, logistic} {
		for _, p := range []int{2, 256, 784} {
			for _, order := range []int{100, 500, 1000} {
				b.Run(fmt.Sprintf("%s/p=%d/M=%d", cost.Name(), p, order), func(b *testing.B) {
					l, draw := steadyLearner(b, cost, order, p)
					timeSteps(b, l, draw)
				})
			}
		}
	}
}

// benchProblem returns the f̃ of a step, with M elements that are far apart and 32 new ones with
// small weights, and a budget that allows 32 removals.
func benchProblem(order int) (f *kernel.Expansion, eps float64) {
	r := rand.New(rand.NewPCG(uint64(order), 3))
	const p, c = 16, 10
	f = kernel.NewExpansion(kernel.Gaussian{Bandwidth: 2}, p, c)
	x, w := make([]float32, p), make([]float64, c)
	for i := range order + 32 {
		scale := 1.0
		if i >= order {
			scale = 0.01
		}
		for j := range x {
			x[j] = float32(r.NormFloat64())
		}
		for q := range w {
			w[q] = scale * r.NormFloat64()
		}
		f.Append(x, w)
	}
	lo, hi := 0.0, 10.0
	for range 40 { // bisects for a budget that allows 32 removals
		eps = (lo + hi) / 2
		switch _, removed, _ := Project(f, eps); {
		case len(removed) < 32:
			lo = eps
		case len(removed) > 32:
			hi = eps
		default:
			return f, eps
		}
	}
	return f, eps
}

// BenchmarkProject compares a projection of M + 32 elements to M with Algorithm 1 as printed,
// which solves a least-squares problem for each candidate. Both are float64 and single-threaded.
// For M = 500, Algorithm 1 is timed on 32 candidates of the first removal. s/projection is then
// extrapolated: removal r = 1 … 33 has n−r+1 candidates, each at a cost of order (n−r+1)³.
func BenchmarkProject(b *testing.B) {
	for _, order := range []int{100, 500} {
		f, eps := benchProblem(order)
		b.Run(fmt.Sprintf("fast/M=%d", order), func(b *testing.B) {
			for range b.N {
				Project(f, eps)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/projection")
		})
		b.Run(fmt.Sprintf("literal/M=%d", order), func(b *testing.B) {
			p := literal.NewPursuit(f, false)
			if order == 100 {
				var removed []int
				for range b.N {
					_, _, removed, _ = p.Algorithm1(eps)
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/projection")
				if _, fast, _ := Project(f, eps); !slices.Equal(fast, removed) {
					b.Fatalf("removed %v, the fast one %v", removed, fast)
				}
				return
			}
			const candidates = 32
			all, size := make([]int, f.Order()), float64(f.Order())
			for i := range all {
				all[i] = i
			}
			for range b.N {
				for j := range candidates {
					p.Approximate(literal.Without(all, j))
				}
			}
			one := b.Elapsed().Seconds() / float64(b.N) / candidates
			var sum float64
			for n := size; n >= size-32; n-- {
				sum += n * one * math.Pow(n/size, 3)
			}
			b.ReportMetric(sum, "s/projection")
			b.ReportMetric(candidates, "candidates/op")
		})
	}
}

// mnistStream returns a learner of the paper's MNIST experiment (η = 24, c = 4, λ = 1e-6)
// and a function that draws mini-batches of 32 of the shuffled stream that it is trained on.
func mnistStream(b *testing.B, cost loss.Loss, parsimony float64) (*Learner, func() ([]float32, []float64)) {
	set, err := data.Load(data.Ref{Name: "mnist"}, data.Finder{})
	if err != nil {
		b.Skip(err)
	}
	train, next := set.Train, 0
	var order []int
	x, y := make([]float32, 32*train.Dim), make([]float64, 32)
	l := mustNew(b, Config{
		Kernel: kernel.Gaussian{Bandwidth: 4}, Loss: cost, Classes: 10, Dim: train.Dim, Regularizer: 1e-6,
		LearningRate: Constant(24), Budget: Parsimony(parsimony), Threads: 2,
	})
	return l, func() ([]float32, []float64) {
		for i := range y {
			if next%train.N == 0 {
				order = rand.New(rand.NewPCG(uint64(next/train.N), 1)).Perm(train.N)
			}
			j := order[next%train.N]
			copy(x[i*train.Dim:], train.Row(j))
			y[i] = train.Y[j]
			next++
		}
		return x, y
	}
}

// BenchmarkMNIST is BenchmarkStep on the real data after three epochs.
func BenchmarkMNIST(b *testing.B) {
	for _, c := range []struct {
		name      string
		cost      loss.Loss
		parsimony float64
	}{{"ksvm", hinge, 0.016}, {"klr", logistic, 0.008}} {
		var l *Learner
		var draw func() ([]float32, []float64)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(b *testing.B) {
				if l == nil {
					l, draw = mnistStream(b, c.cost, c.parsimony)
					for range 3 * 60_000 / 32 {
						x, y := draw()
						mustStep(b, l, len(y), x, y)
					}
				}
				l.SetThreads(threads)
				timeSteps(b, l, draw)
			})
		}
	}
}
