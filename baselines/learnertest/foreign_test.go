package learnertest_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"polkrepro/baselines/learnertest"
	"polkrepro/harness"
	"polkrepro/internal/race"
	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/spec"
)

// laplacian is a kernel as another package might define it.
type laplacian struct{ Scale float64 }

// late is a loss that another package registers after the methods.
type late struct{ loss.MultiHinge }

func (late) Name() string { return "late-hinge" }

func init() {
	kernel.Register[laplacian]()
	loss.Register(late{})
}

// TestForeignLoss: methods for any classification loss learn one that was registered after them.
func TestForeignLoss(t *testing.T) {
	for name, learns := range map[string]bool{"polk": true, "norma": true, "rff-sgd": true, "bsgd": false} {
		if slices.Contains(spec.Method(name).Tasks, late{}.Name()) != learns ||
			slices.Contains(harness.Methods()[name].Tasks, late{}.Name()) != learns {
			t.Errorf("%s learns %v: the late loss is one of them: %v, want %v", name, spec.Method(name).Tasks, !learns, learns)
		}
	}
}

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

// TestForeignKernel: learners that do not depend on the Gaussian kernel accept another package's
// kernel and pass the suite with it.
func TestForeignKernel(t *testing.T) {
	for _, key := range []string{
		"polk", "lbfgs", "nystrom", "ivm", "norma", "forgetron", "projectron", "nogd", "bsgd/removal", "bsgd/projection", "csvc",
	} {
		// These have nothing of their own for the race detector to find.
		if race.Enabled && (key == "polk" || key == "lbfgs" || key == "ivm" || key == "csvc") {
			continue
		}
		k := laplacian{Scale: 3}
		if key == "forgetron" { // with a wide kernel, a Perceptron does not forget wrong labels
			k.Scale = 1
		}
		l := learnerOf(key, k, loss.MultiHinge{})
		if key == "csvc" {
			l = svm(k, false)
		}
		t.Run(key, func(t *testing.T) { learnertest.Run(t, l) })
	}
}
