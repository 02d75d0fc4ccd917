package csvc_test

import (
	"context"
	"fmt"
	"log"

	"polkrepro/baselines/csvc"
	"polkrepro/data"
	"polkrepro/kernel"
)

// Train and predict.
func Example() {
	set, err := data.Load(data.Ref{Name: "multidist"}, data.Finder{})
	if err != nil {
		log.Fatal(err)
	}
	train := set.Train
	model, err := csvc.Train(context.Background(), csvc.Config{
		Kernel: kernel.Gaussian{Bandwidth: 0.6}, Classes: set.Classes, Dim: train.Dim, C: 1,
	}, train.N, train.X, train.Y)
	if err != nil {
		log.Fatal(err)
	}
	classes := make([]float64, set.Test.N)
	model.Predict(set.Test.N, set.Test.X, classes, 2)
	wrong := 0
	for i, y := range set.Test.Y {
		if classes[i] != y {
			wrong++
		}
	}
	fmt.Println("pairs of classes:", len(model.Pairs))
	fmt.Println("fewer than 1000 support vectors:", model.NumSV() < 1000)
	fmt.Println("error below 5 %:", float64(wrong)/float64(set.Test.N) < 0.05)
	// Output:
	// pairs of classes: 10
	// fewer than 1000 support vectors: true
	// error below 5 %: true
}
