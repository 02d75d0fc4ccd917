package projectron_test

import (
	"context"
	"fmt"
	"log"

	"polkrepro/baselines/learnertest"
	"polkrepro/baselines/projectron"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// Learn from a stream. A mistake that the dictionary can nearly express adds no element.
func Example() {
	x, y := learnertest.Blobs(1, 1000, 2, 3) // 1,000 points of the plane, of three classes
	l, err := projectron.New(projectron.Config{
		Kernel: kernel.Gaussian{Bandwidth: 1}, Classes: 3, Dim: 2, Error: 0.3,
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
	// elements: 25
	// classes: 0 2
}
