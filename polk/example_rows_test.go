package polk_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"

	"polkrepro/baselines/bsgd"
	"polkrepro/baselines/norma"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
)

// A learner is what the learners of all packages have in common.
type learner interface {
	Step(ctx context.Context, n int, x []float32, y []float64) ([]float64, error)
	Model() kernel.Model
}

// Train POLK, NORMA and BSGD on rows of your own: here 2,000 points of a square, whose class says whether
// a point is in the unit circle. The scores of Step are computed before it learns from a row, so its
// errors are on rows that the learner had not seen.
func Example_rows() {
	x, y := make([]float32, 2*2000), make([]float64, 2000)
	for i := range y {
		u, v := 3*math.Mod(0.7549*float64(i), 1)-1.5, 3*math.Mod(0.5698*float64(i), 1)-1.5
		x[2*i], x[2*i+1] = float32(u), float32(v)
		if u*u+v*v < 1 {
			y[i] = 1
		}
	}
	k, hinge, rate := kernel.Gaussian{Bandwidth: 0.5}, loss.MultiHinge{}, polk.InverseTime{Initial: 0.5, Horizon: 500}
	p, err := polk.New(polk.Config{Kernel: k, Loss: hinge, Classes: 2, Dim: 2, LearningRate: rate, Budget: polk.Parsimony(0.1)})
	n, err2 := norma.New(norma.Config{Kernel: k, Loss: hinge, Classes: 2, Dim: 2, Regularizer: 1e-3, LearningRate: rate, Memory: 100})
	b, err3 := bsgd.New(bsgd.Config{Kernel: k, Classes: 2, Dim: 2, Regularizer: 1e-3, LearningRate: bsgd.Pegasos(1e-3), Budget: 100, Maintenance: bsgd.Merging})
	if err := errors.Join(err, err2, err3); err != nil {
		log.Fatal(err)
	}
	for i, l := range []learner{p, n, b} {
		wrong := 0
		for j := range y {
			f, err := l.Step(context.Background(), 1, x[2*j:2*j+2], y[j:j+1])
			if err != nil {
				log.Fatal(err)
			}
			if loss.Decide(f) != y[j] && j >= 1000 {
				wrong++
			}
		}
		fmt.Printf("%s: %d elements, %d errors on the last 1,000 rows\n", []string{"POLK", "NORMA", "BSGD"}[i], l.Model().Order(), wrong)
	}
	// Output:
	// POLK: 54 elements, 22 errors on the last 1,000 rows
	// NORMA: 100 elements, 74 errors on the last 1,000 rows
	// BSGD: 100 elements, 38 errors on the last 1,000 rows
}
