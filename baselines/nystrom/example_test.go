package nystrom_test

import (
	"context"
	"fmt"
	"log"

	"polkrepro/baselines/lbfgs"
	"polkrepro/baselines/learnertest"
	"polkrepro/baselines/nystrom"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// Fit a linear model on the Nyström features of 20 landmarks.
func Example() {
	x, y := learnertest.Blobs(1, 1000, 2, 3) // 1,000 points of the plane, of three classes
	r, err := nystrom.Train(context.Background(), nystrom.Config{
		Config:    lbfgs.Config{Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: loss.MultiLogistic{}, Classes: 3, Dim: 2, Regularizer: 1e-3},
		Landmarks: 20, Seed: 1,
	}, len(y), x, y)
	if err != nil {
		log.Fatal(err)
	}
	f := r.Expansion
	fmt.Println("elements:", f.Order())
	fmt.Println("classes:", loss.Predict(f.Score([]float32{-1, 0})), loss.Predict(f.Score([]float32{3, 0})))
	fmt.Println("certified:", r.Converged)
	// Output:
	// elements: 20
	// classes: 0 2
	// certified: true
}
