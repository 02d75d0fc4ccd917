package loss_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// Huber is the loss of robust regression: ½r² for residuals r = f − y within
// ±Delta, and a straight line beyond.
type Huber struct{ Delta float64 }

func (Huber) Name() string { return "huber" }

func (Huber) Outputs(int) int { return 1 }

func (h Huber) Value(f []float64, y float64) float64 {
	if r := math.Abs(f[0] - y); r > h.Delta {
		return h.Delta * (r - h.Delta/2)
	}
	return (f[0] - y) * (f[0] - y) / 2
}

func (h Huber) Gradient(g, f []float64, y float64) float64 {
	g[0] = max(-h.Delta, min(f[0]-y, h.Delta))
	return h.Value(f, y)
}

// Define your own loss: with Huber's, one outlier in ten does not spoil a regression.
func ExampleLoss() {
	at := func(l loss.Loss) float64 {
		learner, err := polk.New(polk.Config{
			Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: l, Dim: 1,
			Regularizer: 1e-4, LearningRate: polk.Constant(0.2), Budget: polk.Parsimony(0.01),
		})
		if err != nil {
			log.Fatal(err)
		}
		x, y := make([]float32, 10), make([]float64, 10)
		for i := range x {
			x[i], y[i] = float32(i)/10, 1
		}
		y[5] = 100
		for range 300 {
			if _, err := learner.Step(context.Background(), len(x), x, y); err != nil {
				log.Fatal(err)
			}
		}
		return learner.Expansion().Score([]float32{0.5})[0]
	}
	fmt.Println("Huber within 0.3 of 1:", math.Abs(at(Huber{Delta: 0.1})-1) < 0.3)
	fmt.Println("squared error above 5:", at(loss.SquaredError{}) > 5)
	// Output:
	// Huber within 0.3 of 1: true
	// squared error above 5: true
}
