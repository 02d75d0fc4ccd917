package harness

import (
	"polkrepro/baselines/nogd"
	"polkrepro/experiments"
)

func init() {
	Register(Method{
		MethodInfo: experiments.MethodInfo{
			Name: "nystrom-sgd", Title: "Nyström-SGD",
			About: "stochastic gradient descent on the Nyström features of the first B samples, with a regularizer",
			Tasks: experiments.Tasks(),
			Params: append(decayedRates("the method"),
				landmarks,
				experiments.Param("regularizer"),
				experiments.Param("bandwidth"),
			),
			Numbers: func(_ experiments.Params, order, dim, classes float64) float64 {
				return nystromNumbers(order, dim, classes, order)
			},
			Lines: []experiments.Line{{Color: 0xc76b98, Dash: []float64{2, 2, 5, 2}, Width: 1.1}},
		},
		New: func(p Problem) (Learner, error) {
			return newNystromSGD(p, nogd.Config{Every: true, Regularizer: p.Params.Regularizer, Rate: p.Rates.Rate})
		},
	})
}
