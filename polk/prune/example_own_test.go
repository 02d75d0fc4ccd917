package prune_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/prune"
)

// central drops the elements that are farthest from the origin.
type central struct{ order int }

func (c central) Prune(_ context.Context, s prune.State) error {
	for s.Len() > c.order {
		s.Drop(prune.Least(s, func(j int) float64 {
			x := s.Point(j)
			return -math.Hypot(float64(x[0]), float64(x[1]))
		}))
	}
	return nil
}

// To use your own pruner, pass its Heuristic to New. It does not have to be in this package. To
// name it in specs as well, [Register] it.
func ExampleNew() {
	pruner, err := prune.New(prune.Heuristic{
		Name:   "central",
		About:  "drops the elements that are farthest from the origin",
		Params: []prune.Param{prune.Order},
		New:    func(p prune.Params) prune.Pruner { return central{p.Int("order")} },
	}, prune.Params{"order": 30})
	if err != nil {
		log.Fatal(err)
	}
	set, err := data.Load(data.Ref{Name: "multidist"}, data.Finder{})
	if err != nil {
		log.Fatal(err)
	}
	learner, err := polk.New(polk.Config{
		Kernel: kernel.Gaussian{Bandwidth: 0.6}, Loss: loss.MultiHinge{}, Classes: set.Classes, Dim: set.Train.Dim,
		Regularizer: 1e-6, LearningRate: polk.Constant(1), Budget: polk.Parsimony(0.04), Pruner: pruner,
	})
	if err != nil {
		log.Fatal(err)
	}
	farthest := 0.0
	for i := 0; i < 3200; i += 32 {
		if _, err := learner.Step(context.Background(), 32, set.Train.X[2*i:], set.Train.Y[i:]); err != nil {
			log.Fatal(err)
		}
	}
	for j := range learner.Expansion().Order() {
		x := learner.Expansion().Dict.At(j)
		farthest = max(farthest, math.Hypot(float64(x[0]), float64(x[1])))
	}
	fmt.Println("model order", learner.Expansion().Order())
	fmt.Println("all within 0.5 of the origin:", farthest < 0.5)
	// Output:
	// model order 30
	// all within 0.5 of the origin: true
}
