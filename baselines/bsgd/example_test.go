package bsgd_test

import (
	"context"
	"fmt"
	"log"

	"polkrepro/baselines/bsgd"
	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// Compare three ways to keep to a budget, on one pass over the same stream.
func Example() {
	set, err := data.Load(data.Ref{Name: "multidist"}, data.Finder{})
	if err != nil {
		log.Fatal(err)
	}
	for _, maintenance := range []string{bsgd.Removal, bsgd.Projection, bsgd.Merging} {
		learner, err := bsgd.New(bsgd.Config{
			Kernel: kernel.Gaussian{Bandwidth: 0.6}, Classes: set.Classes, Dim: set.Train.Dim,
			Regularizer: 1e-3, LearningRate: bsgd.Pegasos(1e-3), Budget: 50, Maintenance: maintenance,
		})
		if err != nil {
			log.Fatal(err)
		}
		if _, err := learner.Step(context.Background(), set.Train.N, set.Train.X, set.Train.Y); err != nil {
			log.Fatal(err)
		}
		model := learner.Expansion()
		wrong := 0
		for i, y := range set.Test.Y {
			if loss.Decide(model.Score(set.Test.Row(i))) != y {
				wrong++
			}
		}
		fmt.Printf("%s: model order %d, error below 5 %%: %v\n", maintenance, model.Order(), float64(wrong)/float64(set.Test.N) < 0.05)
	}
	// Output:
	// removal: model order 50, error below 5 %: false
	// projection: model order 50, error below 5 %: true
	// merging: model order 50, error below 5 %: true
}
