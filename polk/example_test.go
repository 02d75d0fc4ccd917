package polk_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"slices"

	"polkrepro/data"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// Train, save, load, predict: the paper's synthetic data, five classes of
// points in the plane, with the hyper-parameters of its experiment.
func Example() {
	set, err := data.Load(data.Ref{Name: "multidist"}, data.Finder{})
	if err != nil {
		log.Fatal(err)
	}
	cfg := polk.Config{
		Kernel:       kernel.Gaussian{Bandwidth: 0.6},
		Loss:         loss.MultiHinge{},
		Classes:      set.Classes,
		Dim:          set.Train.Dim,
		Regularizer:  1e-6,
		LearningRate: polk.Constant(6),
		Budget:       polk.Parsimony(0.04),
	}
	learner, err := polk.New(cfg)
	if err != nil {
		log.Fatal(err)
	}

	const batch = 32
	train := set.Train
	for i := 0; i+batch <= train.N; i += batch {
		if _, err := learner.Step(context.Background(), batch, train.X[i*train.Dim:], train.Y[i:]); err != nil {
			log.Fatal(err)
		}
	}

	var file bytes.Buffer // any io.Writer
	if err := learner.Expansion().Write(&file, nil); err != nil {
		log.Fatal(err)
	}
	model, err := kernel.ReadExpansion(&file, nil)
	if err != nil {
		log.Fatal(err)
	}

	wrong := 0
	for i, y := range set.Test.Y {
		if loss.Decide(model.Score(set.Test.Row(i))) != y {
			wrong++
		}
	}
	fmt.Println("dictionary of fewer than 40 out of", train.N, "points:", model.Order() < 40)
	fmt.Println("test error below 6 %:", float64(wrong)/float64(set.Test.N) < 0.06)
	// Output:
	// dictionary of fewer than 40 out of 5000 points: true
	// test error below 6 %: true
}

// A learner that is saved in mid-stream and restored continues like the original, bit for bit.
func ExampleRestore() {
	cfg := polk.Config{
		Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: loss.BinaryLogistic{}, Dim: 1,
		Regularizer: 1e-3, LearningRate: polk.Constant(1), Budget: polk.Parsimony(0.01),
	}
	learner, err := polk.New(cfg)
	if err != nil {
		log.Fatal(err)
	}
	x, y := []float32{-1.5, -1, 1, 1.25}, []float64{-1, -1, 1, 1}
	if _, err := learner.Step(context.Background(), 4, x, y); err != nil {
		log.Fatal(err)
	}

	var functions, state bytes.Buffer
	if err := errors.Join(learner.Expansion().Write(&functions, nil), learner.WriteState(&state)); err != nil {
		log.Fatal(err)
	}
	f, err := kernel.ReadExpansion(&functions, nil)
	if err != nil {
		log.Fatal(err)
	}
	restored, err := polk.Restore(f, &state, cfg)
	if err != nil {
		log.Fatal(err)
	}

	for _, l := range []*polk.Learner{learner, restored} {
		if _, err := l.Step(context.Background(), 4, x, y); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("same bits:", slices.Equal(learner.Expansion().W, restored.Expansion().W))
	// Output:
	// same bits: true
}

// Algorithm 1 on its own: make any expansion sparser within an error.
func ExampleProject() {
	f := kernel.NewExpansion(kernel.Gaussian{Bandwidth: 1}, 1, 1)
	f.Append([]float32{0}, []float64{1})
	f.Append([]float32{5}, []float64{2})
	f.Append([]float32{0.1}, []float64{-0.5}) // almost the first element, with the opposite sign
	sparse, removed, err := polk.Project(f, 0.1)
	fmt.Printf("removed %v, error %.2f\n", removed, err)
	for j := range sparse.Order() {
		fmt.Printf("%.2f κ(%v, x)\n", sparse.Weights(j)[0], sparse.Dict.At(j)[0])
	}
	// Output:
	// removed [2], error 0.05
	// 0.50 κ(0, x)
	// 2.00 κ(5, x)
}
