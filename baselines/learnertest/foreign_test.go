package learnertest_test

import (
	"fmt"
	"math"
	"testing"

	"polkrepro/baselines/bsgd"
	"polkrepro/baselines/learnertest"
	"polkrepro/internal/race"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// laplacian is a kernel as another package would write it.
type laplacian struct{ Scale float64 }

func init() { kernel.Register[laplacian]() }

func (laplacian) Name() string { return "laplacian" }

func (k laplacian) Eval(x, y []float32) float64 {
	var sum float64
	for i := range x {
		sum += math.Abs(float64(x[i]) - float64(y[i]))
	}
	return math.Exp(-sum / k.Scale)
}

func (laplacian) Self([]float32) float64 { return 1 }

func (k laplacian) Validate() error {
	if !(k.Scale > 0) {
		return fmt.Errorf("scale %v is not positive", k.Scale)
	}
	return nil
}

// TestForeignKernel: every learner but Fourier features takes a kernel of
// another package, and passes the suite with it.
func TestForeignKernel(t *testing.T) {
	k, hinge := laplacian{Scale: 3}, loss.MultiHinge{}
	for name, l := range map[string]learner{
		"polk":            expanded(fitPOLK(k, hinge)),
		"lbfgs":           expanded(fitLBFGS(k, hinge)),
		"nystrom":         seeded(expanded(fitNystrom(k, hinge))),
		"ivm":             seeded(expanded(fitIVM(k))),
		"norma":           expanded(stepped(newNORMA(k, hinge))),
		"forgetron":       expanded(stepped(newForgetron(laplacian{Scale: 1}))), // a Perceptron with a wide kernel keeps wrong labels in mind
		"projectron":      expanded(stepped(newProjectron(k))),
		"nogd":            expanded(stepped(newNOGD(k, hinge, 10))),
		"bsgd/removal":    expanded(stepped(newBSGD(k, bsgd.Removal))),
		"bsgd/projection": expanded(stepped(newBSGD(k, bsgd.Projection))),
		"csvc":            {Fit: fitCSVC(k, false), TwoClasses: true},
	} {
		// These have nothing of their own for the race detector to find.
		if race.Enabled && (name == "polk" || name == "lbfgs" || name == "ivm" || name == "csvc") {
			continue
		}
		t.Run(name, func(t *testing.T) { learnertest.Run(t, l) })
	}
}
