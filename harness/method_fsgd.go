package harness

import (
	"polkrepro/baselines/fsgd"
	"polkrepro/spec"
)

func init() {
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: spec.MethodFSGD, Title: "FSGD",
			About:   "functional stochastic gradient descent: POLK that prunes nothing",
			AnyLoss: true,
			Params: append(decayedRates("FSGD"),
				spec.Param("regularizer"),
				spec.Param("bandwidth"),
			),
			Numbers: spec.DictionaryNumbers,
			Lines:   []spec.Line{{Color: 0x7a5a3a, Dash: []float64{0.8, 1.2}, Width: 0.9}},
		},
		New: newFSGD,
	})
}

func newFSGD(p Problem) (Learner, error) {
	return fsgd.New(fsgd.Config{
		Kernel: p.Kernel, Loss: p.Loss, Classes: p.Classes, Dim: p.Dim, Regularizer: p.Params.Regularizer,
		LearningRate: p.Rates, Points: p.Train.Dense().X,
	})
}
