package harness

import (
	"polkrepro/baselines/fsgd"
	"polkrepro/experiments"
)

func init() {
	Register(Method{
		MethodInfo: experiments.MethodInfo{
			Name: experiments.MethodFSGD, Title: "FSGD",
			About:   "functional stochastic gradient descent: POLK that prunes nothing",
			AnyLoss: true,
			Params: append(decayedRates("FSGD"),
				experiments.Param("regularizer"),
				experiments.Param("bandwidth"),
			),
			Numbers: experiments.DictionaryNumbers,
			Lines:   []experiments.Line{{Color: 0x7a5a3a, Dash: []float64{0.8, 1.2}, Width: 0.9}},
		},
		New: newFSGD,
	})
}

func newFSGD(p Problem) (Learner, error) {
	return fsgd.New(fsgd.Config{
		Kernel:      p.Kernel,
		Loss:        p.Loss,
		Classes:     p.Classes,
		Dim:         p.Dim,
		Regularizer: p.Params.Regularizer,
		Rate:        p.Rates.Rate,
		Points:      p.Train.X,
	})
}
