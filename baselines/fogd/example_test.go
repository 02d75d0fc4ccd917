package fogd_test

import (
	"context"
	"fmt"
	"log"

	"polkrepro/baselines/fogd"
	"polkrepro/baselines/learnertest"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// Learn from a stream, with a linear model of the cosines and sines of 50 random frequencies.
func Example() {
	x, y := learnertest.Blobs(1, 1000, 2, 3) // 1,000 points of the plane, of three classes
	l, err := fogd.New(fogd.Config{
		Kernel: kernel.Gaussian{Bandwidth: 1}, Loss: loss.MultiHinge{}, Classes: 3, Dim: 2,
		Frequencies: 50, Seed: 1, LearningRate: polk.Constant(0.5),
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := l.Step(context.Background(), len(y), x, y); err != nil {
		log.Fatal(err)
	}
	f := make([]float64, 2*3)
	l.Model().Scores(2, []float32{-1, 0, 3, 0}, f, 1)
	fmt.Println("frequencies:", l.Model().Order())
	fmt.Println("classes:", loss.Predict(f[:3]), loss.Predict(f[3:]))
	// Output:
	// frequencies: 50
	// classes: 0 2
}
