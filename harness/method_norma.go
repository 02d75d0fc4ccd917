package harness

import (
	"polkrepro/baselines/norma"
	"polkrepro/spec"
)

func init() {
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: "norma", Title: "NORMA",
			About:   "stochastic gradient descent that drops its oldest elements (Kivinen, Smola, Williamson 2004)",
			AnyLoss: true,
			Params: append(decayedRates("NORMA"),
				spec.Param("budget").WithSymbol("τ").WithAbout("τ, how many elements are kept"),
				spec.Param("regularizer"),
				spec.Param("bandwidth"),
			),
			Numbers: spec.DictionaryNumbers,
			Lines:   []spec.Line{{Color: 0x1f4e5f, Dash: []float64{5, 1.5}, Width: 1.1}},
		},
		New: newNORMA,
	})
}

func newNORMA(p Problem) (Learner, error) {
	return norma.New(norma.Config{
		Kernel: p.Kernel, Loss: p.Loss, Classes: p.Classes, Dim: p.Dim, Regularizer: p.Params.Regularizer,
		LearningRate: p.Rates, Memory: p.Params.Budget,
	})
}
