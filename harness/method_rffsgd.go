package harness

import "polkrepro/experiments"

func init() {
	Register(Method{
		MethodInfo: experiments.MethodInfo{
			Name: "rff-sgd", Title: "RFF-SGD",
			About: "stochastic gradient descent on random Fourier features, with a regularizer",
			Tasks: experiments.Tasks(),
			Params: append(decayedRates("the method"),
				frequencies,
				experiments.Param("regularizer"),
				experiments.Param("bandwidth"),
			),
			Conflict: fourierConflict,
			Numbers:  fourierNumbers,
			Lines:    []experiments.Line{{Color: 0xb9a88a, Dash: []float64{4, 1, 1, 1, 1, 1}, Width: 1.1}},
		},
		New: func(p Problem) (Learner, error) {
			return newFourier(p, p.Params.Regularizer, p.Rates.Rate)
		},
		Bytes: fourierBytes,
	})
}
