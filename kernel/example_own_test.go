package kernel_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"

	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// Laplace is κ(x, x') = exp(−‖x−x'‖₁/Scale).
type Laplace struct {
	Scale float64 // > 0
}

// A registered kernel is saved with models and read with them.
func init() { kernel.Register[Laplace]() }

func (Laplace) Name() string { return "laplace" }

func (k Laplace) Eval(x, y []float32) float64 {
	var sum float64
	for i, v := range x {
		sum += math.Abs(float64(v) - float64(y[i]))
	}
	return math.Exp(-sum / k.Scale)
}

func (Laplace) Self([]float32) float64 { return 1 }

func (k Laplace) Validate() error {
	if !(k.Scale > 0) {
		return fmt.Errorf("laplace: scale %v is not positive", k.Scale)
	}
	return nil
}

// Define your own kernel with four methods, and train a learner with it.
func ExampleKernel() {
	learner, err := polk.New(polk.Config{
		Kernel: Laplace{Scale: 2}, Loss: loss.MultiHinge{}, Classes: 2, Dim: 2,
		Regularizer: 1e-4, LearningRate: polk.Constant(0.5), Budget: polk.Parsimony(0.01),
	})
	if err != nil {
		log.Fatal(err)
	}
	x := []float32{
		1, 1,
		-1, -1,
		1, -1,
		-1, 1,
	}
	y := []float64{0, 0, 1, 1}
	for range 20 {
		if _, err := learner.Step(context.Background(), len(y), x, y); err != nil {
			log.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := learner.Expansion().Write(&file, nil); err != nil {
		log.Fatal(err)
	}
	model, err := kernel.ReadExpansion(&file, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\n", model.Kernel)
	fmt.Println("(2, 2) is of class", loss.Decide(model.Score([]float32{2, 2})))
	fmt.Println("(2, −2) is of class", loss.Decide(model.Score([]float32{2, -2})))
	// Output:
	// {Scale:2}
	// (2, 2) is of class 0
	// (2, −2) is of class 1
}
