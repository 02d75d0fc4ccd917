package harness

import (
	"polkrepro/baselines/projectron"
	"polkrepro/polk/prune"
	"polkrepro/spec"
)

func init() {
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: "projectron", Title: "Projectron++",
			About: "Perceptron that projects onto its dictionary what that can express (Orabona, Keshet, Caputo 2009)",
			Tasks: []string{spec.TaskKSVM},
			Params: []spec.ParamInfo{
				oneSample("Projectron++"),
				{
					Name: "projection_error", Symbol: "δ", Kind: spec.KindNumber, Above: prune.Bound(0),
					About: "the largest error of a projection, the paper's η",
				},
				spec.Param("budget").WithSymbol("B").WithAbout("B, the order from which on all is projected"),
				spec.Param("bandwidth"),
			},
			Numbers: func(p spec.Params, order, dim, classes float64) float64 {
				return spec.DictionaryNumbers(p, order, dim, classes) + order*order // K⁻¹
			},
			Lines: []spec.Line{{Color: 0x2f4b26, Dash: []float64{7, 1, 2, 1}, Width: 1.1}},
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
