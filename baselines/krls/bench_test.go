package krls

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"polkrepro/kernel"
)

// BenchmarkStep is a step at its budget: of samples near the span, and of samples for each of which
// an element leaves, an older one for most.
func BenchmarkStep(b *testing.B) {
	for _, order := range []int{100, 500} {
		for name, threshold := range map[string]float64{"near": 1, "enters": 1e-6} {
			b.Run(fmt.Sprintf("%s/%d", name, order), func(b *testing.B) {
				const dim = 17
				r := rand.New(rand.NewPCG(10, 0))
				x, y := make([]float32, 4000*dim), make([]float64, 4000)
				for i := range x {
					x[i] = float32(r.NormFloat64())
				}
				for i := range y {
					y[i] = float64(x[i*dim]) + 0.1*r.NormFloat64()
				}
				c := Config{Kernel: kernel.Gaussian{Bandwidth: 5}, Dim: dim, Threshold: threshold, Noise: 0.01, Budget: order, Forgetting: 1}
				l, err := NewFitted(c, x[:order*dim], 2000, x[:2000*dim], y[:2000])
				if err != nil {
					b.Fatal(err)
				}
				for i := 0; b.Loop(); i = (i + 1) % 4000 {
					if _, err := l.Step(b.Context(), 1, x[i*dim:(i+1)*dim], y[i:i+1]); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(l.left-l.spare)/float64(b.N), "removed/op")
			})
		}
	}
}
