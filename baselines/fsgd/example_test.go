package fsgd_test

import (
	"context"
	"fmt"
	"log"

	"polkrepro/baselines/fsgd"
	"polkrepro/baselines/learnertest"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// Learn from a stream of draws from 1,000 points, all of which become elements.
func Example() {
	x, y := learnertest.Blobs(1, 1000, 2, 3) // 1,000 points of the plane, of three classes
	l, err := fsgd.New(fsgd.Config{
		Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: loss.MultiHinge{}, Classes: 3, Dim: 2,
		Regularizer: 1e-3, LearningRate: polk.Constant(0.2), Points: x,
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := l.Step(context.Background(), len(y), x, y); err != nil {
		log.Fatal(err)
	}
	f := l.Expansion()
	fmt.Println("elements:", f.Order())
	fmt.Println("classes:", loss.Predict(f.Score([]float32{-1, 0})), loss.Predict(f.Score([]float32{3, 0})))
	// Output:
	// elements: 1000
	// classes: 0 2
}
