package rff_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"polkrepro/baselines/rff"
	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// Train, save, load, predict.
func Example() {
	set, err := data.Load(data.Ref{Name: "multidist"}, data.Finder{})
	if err != nil {
		log.Fatal(err)
	}
	train := set.Train
	result, err := rff.Train(context.Background(), rff.Config{
		Kernel: kernel.Gaussian{Bandwidth: 0.6}, Loss: loss.MultiLogistic{}, Classes: set.Classes, Dim: train.Dim,
		Regularizer: 1e-4, Frequencies: 50, Seed: 1,
	}, train.N, train.X, train.Y, nil)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := result.Model.Write(&file); err != nil {
		log.Fatal(err)
	}
	model, err := rff.ReadModel(&file)
	if err != nil {
		log.Fatal(err)
	}
	scores := make([]float64, set.Test.N*set.Classes)
	model.Scores(set.Test.N, set.Test.X, scores, 2)
	wrong := 0
	for i, y := range set.Test.Y {
		if loss.Decide(scores[i*set.Classes:(i+1)*set.Classes]) != y {
			wrong++
		}
	}
	fmt.Printf("frequencies: %d, converged: %v\n", model.Order(), result.Converged)
	fmt.Println("error below 5 %:", float64(wrong)/float64(set.Test.N) < 0.05)
	// Output:
	// frequencies: 50, converged: true
	// error below 5 %: true
}
