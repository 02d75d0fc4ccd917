package learnertest_test

import (
	"math"
	"strings"
	"testing"

	"polkrepro/baselines/fogd"
	"polkrepro/baselines/forgetron"
	"polkrepro/baselines/learnertest"
	"polkrepro/baselines/nogd"
	"polkrepro/baselines/norma"
	"polkrepro/baselines/projectron"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// TestStepDoesNotAllocate: no step allocates, not even one that drops elements. Package bsgd has
// its own test, of all ways to keep to a budget.
func TestStepDoesNotAllocate(t *testing.T) {
	s := task{Threads: 1, Classes: 3, N: 200, Dim: 2}
	s.X, s.Y = learnertest.Blobs(2, s.N, s.Dim, s.Classes)
	for name, counter := range map[string]string{ // counter of dropped elements
		"norma": "dropped", "forgetron": "removals", "projectron": "", "nogd": "", "rff-sgd": "",
	} {
		l := must(method(name).New(problem(gaussian, loss.MultiLogistic{}, settings[name], s)))
		learnertest.DoesNotAllocate(t, l, s.X, s.Y)
		if h := l.Health(); counter != "" && !(h[counter] >= 100) {
			t.Errorf("%s: %v: the test shows little", name, h)
		}
	}
}

func TestBadConfigs(t *testing.T) {
	k, l, bad := gaussian, loss.MultiHinge{}, kernel.Gaussian{}
	for want, err := range map[string]error{
		"norma: no kernel":              failure(norma.New(norma.Config{Loss: l, Classes: 3, Dim: 2, Memory: 3, Regularizer: 1})),
		"norma: 1 classes":              failure(norma.New(norma.Config{Kernel: k, Loss: l, Classes: 1, Dim: 2, Memory: 3, Regularizer: 1})),
		"norma: memory 0":               failure(norma.New(norma.Config{Kernel: k, Loss: l, Classes: 3, Dim: 2, Regularizer: 1})),
		"regularizer 0: want":           failure(norma.New(norma.Config{Kernel: k, Loss: l, Classes: 3, Dim: 2, Memory: 3})),
		"nogd: no kernel":               failure(nogd.New(nogd.Config{Loss: l, Classes: 3, Dim: 2, Landmarks: 3})),
		"nogd: rank 0 of 0 landmarks":   failure(nogd.New(nogd.Config{Kernel: k, Loss: l, Classes: 3, Dim: 2})),
		"nogd: rank 4 of 3":             failure(nogd.New(nogd.Config{Kernel: k, Loss: l, Classes: 3, Dim: 2, Landmarks: 3, Rank: 4})),
		"landmarks, regularizer -1":     failure(nogd.New(nogd.Config{Kernel: k, Loss: l, Classes: 3, Dim: 2, Landmarks: 3, Regularizer: -1})),
		"forgetron: 1 classes":          failure(forgetron.New(forgetron.Config{Kernel: k, Classes: 1, Dim: 2, Budget: 3})),
		"forgetron: budget 0":           failure(forgetron.New(forgetron.Config{Kernel: k, Classes: 3, Dim: 2})),
		"projectron: no kernel":         failure(projectron.New(projectron.Config{Classes: 3, Dim: 2, Error: 0.1})),
		"projectron: error 0":           failure(projectron.New(projectron.Config{Kernel: k, Classes: 3, Dim: 2})),
		"error 0.1, budget -1":          failure(projectron.New(projectron.Config{Kernel: k, Classes: 3, Dim: 2, Error: 0.1, Budget: -1})),
		"fogd: kernel: bandwidth":       failure(fogd.New(fogd.Config{Kernel: bad, Loss: l, Classes: 3, Dim: 2, Frequencies: 3})),
		"fogd: 0 frequencies":           failure(fogd.New(fogd.Config{Kernel: k, Loss: l, Classes: 3, Dim: 2})),
		"frequencies and regularizer N": failure(fogd.New(fogd.Config{Kernel: k, Loss: l, Classes: 3, Dim: 2, Frequencies: 3, Regularizer: math.NaN()})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func failure[Learner any](_ Learner, err error) error { return err }
