package harness

import (
	"fmt"

	"polkrepro/baselines/fogd"
	"polkrepro/kernel"
	"polkrepro/polk"
	"polkrepro/spec"
)

func init() {
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: "fogd", Title: "FOGD",
			About:   "Fourier online gradient descent (Lu, Hoi, Wang, Zhao, Liu 2016)",
			AnyLoss: true,
			Params: []spec.ParamInfo{
				spec.Param("learning_rate"),
				oneSample("FOGD"),
				frequencies,
				spec.Param("bandwidth"),
			},
			Conflict: fourierConflict,
			Numbers:  fourierNumbers,
			Lines:    []spec.Line{{Color: 0x5c4a1e, Dash: []float64{2, 1}, Width: 1.2}},
		},
		New: func(p Problem) (Learner, error) {
			return newFourier(p, 0, polk.Constant(p.Params.LearningRate))
		},
		Bytes: fourierBytes,
	})
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: "rff-sgd", Title: "RFF-SGD",
			About:   "stochastic gradient descent on random Fourier features, with a regularizer",
			AnyLoss: true,
			Params: append(decayedRates("the method"),
				frequencies,
				spec.Param("regularizer"),
				spec.Param("bandwidth"),
			),
			Conflict: fourierConflict,
			Numbers:  fourierNumbers,
			Lines:    []spec.Line{{Color: 0xb9a88a, Dash: []float64{4, 1, 1, 1, 1, 1}, Width: 1.1}},
		},
		New: func(p Problem) (Learner, error) {
			return newFourier(p, p.Params.Regularizer, p.Rates)
		},
		Bytes: fourierBytes,
	})
}

var frequencies = spec.Param("budget").WithSymbol("D").WithAbout("D, the number of frequencies")

// fourierConflict returns a conflict for a kernel without random Fourier features.
func fourierConflict(p spec.Params) (param, why string) {
	if !gaussian(p) {
		return "budget", "random Fourier features are those of the Gaussian kernel, and the kernel is " + p.Kernel.Type
	}
	return "", ""
}

// fourierNumbers counts the weights of a cosine and a sine for each frequency. It does not count the
// frequencies, which the seed gives whenever they are needed.
func fourierNumbers(_ spec.Params, order, _, classes float64) float64 {
	return 2 * order * classes
}

func fourierBytes(s Size) float64 {
	d := float64(s.Params.Budget)
	return 12*d*s.Dim + 3*16*d*s.Classes + 4096*d + s.Scores() // the features of 512 examples when it is evaluated
}

func newFourier(p Problem, lambda float64, rates polk.Schedule) (Learner, error) {
	k, ok := p.Kernel.(kernel.Gaussian)
	if !ok {
		return nil, fmt.Errorf("random Fourier features need the gaussian kernel, not %s", p.Kernel.Name())
	}
	if err := p.checkMemory("fogd", p.Params.Budget, "frequencies"); err != nil {
		return nil, err
	}
	return fogd.New(fogd.Config{
		Kernel: k, Loss: p.Loss, Classes: p.Classes, Dim: p.Dim, Frequencies: p.Params.Budget, Seed: p.Seed,
		Regularizer: lambda, LearningRate: rates,
	})
}
