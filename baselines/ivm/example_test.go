package ivm_test

import (
	"context"
	"fmt"
	"log"

	"polkrepro/baselines/ivm"
	"polkrepro/baselines/learnertest"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// Fit a logistic regression on 10 import points, each the best of 59 candidates.
func Example() {
	x, y := learnertest.Blobs(1, 1000, 2, 3) // 1,000 points of the plane, of three classes
	r, err := ivm.Train(context.Background(), ivm.Config{
		Kernel: kernel.Gaussian{Bandwidth: 1}, Classes: 3, Dim: 2, Regularizer: 1e-3, Candidates: 59, MaxPoints: 10, Seed: 1,
	}, len(y), x, y)
	if err != nil {
		log.Fatal(err)
	}
	f := r.Expansion
	fmt.Println("elements:", f.Order())
	fmt.Println("classes:", loss.Predict(f.Score([]float32{-1, 0})), loss.Predict(f.Score([]float32{3, 0})))
	fmt.Println("certified:", r.Gap <= 1e-3*r.Objective)
	// Output:
	// elements: 10
	// classes: 0 2
	// certified: true
}
