package forgetron_test

import (
	"context"
	"fmt"
	"log"

	"polkrepro/baselines/forgetron"
	"polkrepro/baselines/learnertest"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// Learn from a stream, with at most 50 samples.
func Example() {
	x, y := learnertest.Blobs(1, 1000, 2, 3) // 1,000 points of the plane, of three classes
	l, err := forgetron.New(forgetron.Config{
		Kernel: kernel.Gaussian{Bandwidth: 1}, Classes: 3, Dim: 2, Budget: 50,
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
	// elements: 50
	// classes: 0 2
}
