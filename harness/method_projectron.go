package harness

import (
	"polkrepro/baselines/projectron"
	"polkrepro/experiments"
	"polkrepro/polk/prune"
)

func init() {
	Register(Method{
		MethodInfo: experiments.MethodInfo{
			Name: "projectron", Title: "Projectron++",
			About: "Perceptron that projects onto its dictionary what that can express (Orabona, Keshet, Caputo 2009)",
			Tasks: []string{experiments.TaskKSVM},
			Params: []experiments.ParamInfo{
				oneSample("Projectron++"),
				{
					Name: "projection_error", Symbol: "δ", Kind: experiments.KindNumber, Above: prune.Bound(0),
					About: "the largest error of a projection, the paper's η",
				},
				experiments.Param("budget").WithSymbol("B").WithAbout("B, the order from which on all is projected"),
				experiments.Param("bandwidth"),
			},
			Numbers: func(p experiments.Params, order, dim, classes float64) float64 {
				return experiments.DictionaryNumbers(p, order, dim, classes) + order*order // K⁻¹
			},
			Lines: []experiments.Line{{Color: 0x2f4b26, Dash: []float64{7, 1, 2, 1}, Width: 1.1}},
		},
		New: func(p Problem) (Learner, error) {
			return projectron.New(projectron.Config{
				Kernel:  p.Kernel,
				Classes: p.Classes,
				Dim:     p.Dim,
				Error:   p.Params.Own["projection_error"],
				Budget:  p.Params.Budget,
			})
		},
	})
}
