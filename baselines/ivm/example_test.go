package ivm_test

import (
	"context"
	"fmt"
	"log"

	"polkrepro/baselines/ivm"
	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// A batch method whose model is about as sparse as POLK's.
func Example() {
	set, err := data.Load(data.Ref{Name: "multidist"}, data.Finder{})
	if err != nil {
		log.Fatal(err)
	}
	const n = 600 // of the 5,000: the method's cost grows with n²
	result, err := ivm.Train(context.Background(), ivm.Config{
		Kernel: kernel.Gaussian{Bandwidth: 0.6}, Classes: set.Classes, Dim: set.Train.Dim,
		Regularizer: 1e-4, Candidates: 59, MaxPoints: 25, Seed: 1,
	}, n, set.Train.X[:n*set.Train.Dim], set.Train.Y[:n], nil)
	if err != nil {
		log.Fatal(err)
	}
	wrong := 0
	for i, y := range set.Test.Y {
		if loss.Decide(result.Expansion.Score(set.Test.Row(i))) != y {
			wrong++
		}
	}
	fmt.Printf("import points: %d, the imports ended as: %s\n", result.Expansion.Order(), result.Reason)
	fmt.Println("error below 5 %:", float64(wrong)/float64(set.Test.N) < 0.05)
	// Output:
	// import points: 25, the imports ended as: full
	// error below 5 %: true
}
