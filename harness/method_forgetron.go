package harness

import (
	"polkrepro/baselines/forgetron"
	"polkrepro/experiments"
)

func init() {
	Register(Method{
		MethodInfo: experiments.MethodInfo{
			Name: "forgetron", Title: "Forgetron",
			About: "Perceptron that fades its oldest example out before it drops it (Dekel, Shalev-Shwartz, Singer 2008)",
			Tasks: []string{experiments.TaskKSVM},
			Params: []experiments.ParamInfo{
				oneSample("the Forgetron"),
				experiments.Param("budget").WithSymbol("B").WithAbout("B, the largest model order"),
				experiments.Param("bandwidth"),
			},
			Numbers: experiments.DictionaryNumbers,
			Lines:   []experiments.Line{{Color: 0x5d4157, Dash: []float64{1, 2.5}, Width: 1.2}},
		},
		New: func(p Problem) (Learner, error) {
			return forgetron.New(forgetron.Config{Kernel: p.Kernel, Classes: p.Classes, Dim: p.Dim, Budget: p.Params.Budget})
		},
	})
}
