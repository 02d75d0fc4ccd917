package learnertest_test

import (
	"fmt"
	"math"
	"testing"

	"polkrepro/baselines/bsgd"
	"polkrepro/baselines/learnertest"
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
		"norma":           expanded(fitNORMA(k, hinge)),
		"forgetron":       expanded(fitForgetron(laplacian{Scale: 1})), // a Perceptron with a wide kernel keeps wrong labels in mind
		"projectron":      expanded(fitProjectron(k)),
		"nogd":            expanded(fitNOGD(k, hinge, 10)),
		"bsgd/removal":    expanded(fitBSGD(k, bsgd.Removal)),
		"bsgd/projection": expanded(fitBSGD(k, bsgd.Projection)),
		"csvc":            {Fit: fitCSVC(k, false), Load: loadCSVC, TwoClasses: true},
	} {
		// These have nothing of their own for the race detector to find.
		if learnertest.RaceEnabled && (name == "polk" || name == "lbfgs" || name == "ivm" || name == "csvc") {
			continue
		}
		t.Run(name, func(t *testing.T) { learnertest.Run(t, l) })
	}
}

// plain is the Gaussian kernel without its matrix products.
type plain struct{ kernel.Kernel }

// TestForeignKernelAgainstProducts: value by value or as matrix products, the
// Gaussian kernel gives the same models up to rounding. Float32 rounds scores
// by some 1e-6, L-BFGS and IVM stop within tolerances of 1e-2 and 1e-3.
func TestForeignKernelAgainstProducts(t *testing.T) {
	s := learnertest.Task{Seed: 1, Threads: 1, Classes: 2, N: 4, Dim: 1, X: []float32{-2, -1, 1, 2}, Y: []float64{0, 0, 1, 1}}
	hinge := loss.MultiHinge{}
	for name, fit := range map[string]func(kernel.Kernel) learner{
		"polk":    func(k kernel.Kernel) learner { return expanded(fitPOLK(k, hinge)) },
		"lbfgs":   func(k kernel.Kernel) learner { return expanded(fitLBFGS(k, hinge)) },
		"nystrom": func(k kernel.Kernel) learner { return expanded(fitNystrom(k, hinge)) },
		"ivm":     func(k kernel.Kernel) learner { return expanded(fitIVM(k)) },
		"bsgd":    func(k kernel.Kernel) learner { return expanded(fitBSGD(k, bsgd.Projection)) },
		"csvc":    func(k kernel.Kernel) learner { return learner{Fit: fitCSVC(k, false)} },
	} {
		products, err := fit(gaussian).Fit(s)
		if err != nil {
			t.Fatal(err)
		}
		values, err := fit(plain{gaussian}).Fit(s)
		if err != nil {
			t.Fatal(err)
		}
		f, g := products.Scores(s.N, s.X, 1), values.Scores(s.N, s.X, 1)
		for i := range f {
			if math.Abs(f[i]-g[i]) > 1e-4 {
				t.Errorf("%s: score %d is %v, with matrix products %v", name, i, g[i], f[i])
			}
		}
	}
}
