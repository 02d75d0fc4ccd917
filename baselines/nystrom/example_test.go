package nystrom_test

import (
	"context"
	"fmt"
	"log"

	"polkrepro/baselines/nystrom"
	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// Landmarks are drawn, then a convex problem is solved: the simplest way to a
// model of a given order.
func Example() {
	set, err := data.Load(data.Ref{Name: "multidist"}, data.Finder{})
	if err != nil {
		log.Fatal(err)
	}
	train := set.Train
	result, err := nystrom.Train(context.Background(), nystrom.Config{
		Kernel: kernel.Gaussian{Bandwidth: 0.6}, Loss: loss.MultiLogistic{}, Classes: set.Classes, Dim: train.Dim,
		Regularizer: 1e-4, Landmarks: 50, Seed: 1,
	}, train.N, train.X, train.Y, nil)
	if err != nil {
		log.Fatal(err)
	}
	wrong := 0
	for i, y := range set.Test.Y {
		if loss.Decide(result.Expansion.Score(set.Test.Row(i))) != y {
			wrong++
		}
	}
	fmt.Printf("landmarks: %d, converged: %v\n", result.Expansion.Order(), result.Converged)
	fmt.Println("error below 5 %:", float64(wrong)/float64(set.Test.N) < 0.05)
	// Output:
	// landmarks: 50, converged: true
	// error below 5 %: true
}
