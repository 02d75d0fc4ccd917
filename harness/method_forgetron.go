package harness

import (
	"polkrepro/baselines/forgetron"
	"polkrepro/spec"
)

func init() {
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: "forgetron", Title: "Forgetron",
			About: "Perceptron that fades its oldest example out before it drops it (Dekel, Shalev-Shwartz, Singer 2008)",
			Tasks: []string{spec.TaskKSVM},
			Params: []spec.ParamInfo{
				oneSample("the Forgetron"),
				spec.Param("budget").WithSymbol("B").WithAbout("B, the largest model order"),
				spec.Param("bandwidth"),
			},
			Numbers: spec.DictionaryNumbers,
			Lines:   []spec.Line{{Color: 0x5d4157, Dash: []float64{1, 2.5}, Width: 1.2}},
		},
		New: func(p Problem) (Learner, error) {
			return forgetron.New(forgetron.Config{Kernel: p.Kernel, Classes: p.Classes, Dim: p.Dim, Budget: p.Params.Budget})
		},
	})
}
