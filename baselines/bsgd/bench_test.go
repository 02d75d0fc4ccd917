package bsgd

import (
	"math/rand/v2"
	"testing"
	"time"

	"polkrepro/baselines/learnertest"
	"polkrepro/kernel"
	"polkrepro/polk"
)

// digits imitates the shape of MNIST: 784 pixels, of which four in five are zero, ten classes of
// 40 prototypes each, and noise on the nonzero pixels. Every eighth sample has a random label, so
// that violations never cease: on MNIST, 13 to 38 % of the samples of the first epoch are
// violations.
func digits(seed uint64, n int) ([]float32, []float64) {
	const dim, prototypes = 784, 400
	rng := rand.New(rand.NewPCG(seed, 2))
	proto := make([]float32, prototypes*dim)
	for i := range proto {
		if rng.IntN(5) == 0 {
			proto[i] = rng.Float32()
		}
	}
	x, y := make([]float32, n*dim), make([]float64, n)
	for i := range n {
		p := rng.IntN(prototypes)
		y[i] = float64(p % 10)
		if i%8 == 0 {
			y[i] = float64(rng.IntN(10))
		}
		for j, v := range proto[p*dim : (p+1)*dim] {
			if v > 0 {
				x[i*dim+j] = max(0, v+0.35*float32(rng.NormFloat64()))
			}
		}
	}
	return x, y
}

const (
	benchBudget = 1086 // the paper's model order on MNIST
	benchBlock  = 320
)

func benchConfig(maintenance string) Config {
	return Config{
		Kernel: kernel.Gaussian{Bandwidth: 4}, Classes: 10, Dim: 784, Regularizer: 1e-6,
		LearningRate: polk.Constant(1), Budget: benchBudget, Maintenance: maintenance,
	}
}

// BenchmarkStep reports the time per sample (µs/sample), the fraction of samples that violate the
// margin, and the ratio of the time to the floor: the time of the kernel values between the
// samples and the dictionary alone, computed in the same blocks as in Step and measured in the
// same run.
func BenchmarkStep(b *testing.B) {
	x, y := digits(1, 8*benchBlock)
	for _, maintenance := range strategies {
		b.Run(maintenance, func(b *testing.B) { benchmarkStep(b, benchConfig(maintenance), x, y) })
	}
}

func benchmarkStep(b *testing.B, c Config, x []float32, y []float64) {
	l := learner(b, c)
	for l.Expansion().Order() < c.Budget {
		learnertest.Step(b, l, x, y)
	}
	before := l.violations
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		lo := i % 8 * benchBlock
		learnertest.Step(b, l, x[lo*c.Dim:][:benchBlock*c.Dim], y[lo:][:benchBlock])
		i++
	}
	samples := float64(i * benchBlock)
	step := float64(b.Elapsed().Microseconds()) / samples
	floor := float64(kernelRows(l, x).Nanoseconds()) / 1e3
	rate := float64(l.violations-before) / samples
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(step, "µs/sample")
	b.ReportMetric(floor, "floor-µs/sample")
	b.ReportMetric(step/floor, "x-floor")
	b.ReportMetric(rate, "violations/sample")
}

// kernelRows returns the time of one row of kernel values, computed in blocks.
func kernelRows(l *Learner, x []float32) time.Duration {
	e := l.Expansion()
	dst := make([]float32, windowRows*e.Order())
	const blocks = 40
	start := time.Now()
	for range blocks {
		e.Dict.Block32(e.Kernel, kernel.MatrixOf(windowRows, e.Dict.Dim(), x), kernel.MatrixOf(windowRows, e.Order(), dst), 1)
	}
	return time.Since(start) / (blocks * windowRows)
}
