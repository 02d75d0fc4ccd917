package lbfgs_test

import (
	"context"
	"fmt"
	"log"

	"polkrepro/baselines/lbfgs"
	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// Minimize the regularized risk to a certified gap of a hundredth of the objective.
func Example() {
	set, err := data.Load(data.Ref{Name: "multidist"}, data.Finder{})
	if err != nil {
		log.Fatal(err)
	}
	const n = 600 // of the 5,000 samples: the method's cost grows with n²
	result, err := lbfgs.Train(context.Background(), lbfgs.Config{
		Kernel: kernel.Gaussian{Bandwidth: 0.6}, Loss: loss.MultiLogistic{}, Classes: set.Classes, Dim: set.Train.Dim,
		Regularizer: 1e-3, Tolerance: 0.01,
	}, n, set.Train.X[:n*set.Train.Dim], set.Train.Y[:n])
	if err != nil {
		log.Fatal(err)
	}
	wrong := 0
	for i, y := range set.Test.Y {
		if loss.Decide(result.Expansion.Score(set.Test.Row(i))) != y {
			wrong++
		}
	}
	fmt.Println("converged:", result.Converged)
	fmt.Println("no function is better by more than a hundredth:", result.Gap <= 0.01*result.Objective)
	fmt.Println("error below 5 %:", float64(wrong)/float64(set.Test.N) < 0.05)
	// Output:
	// converged: true
	// no function is better by more than a hundredth: true
	// error below 5 %: true
}
