package harness

import (
	"polkrepro/baselines/krls"
	"polkrepro/polk/prune"
	"polkrepro/spec"
)

func init() {
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: "krls", Title: "KRLS",
			About: "kernel recursive least squares with a budget and forgetting (Engel, Mannor, Meir 2004; Van Vaerenbergh, Lázaro-Gredilla, Santamaría 2012)",
			Tasks: []string{spec.TaskRegression},
			Params: []spec.ParamInfo{
				oneSample("KRLS"),
				{
					Name: "threshold", Symbol: "ν", Kind: spec.KindNumber, Least: prune.Bound(0), Default: "0.0001",
					About: "ν, the squared distance from the dictionary's span above which a sample enters",
				},
				{
					Name: "noise", Symbol: "σ²", Kind: spec.KindNumber, Least: prune.Bound(1e-100),
					About: "σ², the variance of the targets' noise: the ridge of the least squares",
				},
				{
					Name: "forgetting", Symbol: "λ", Kind: spec.KindNumber, Above: prune.Bound(0), Most: prune.Bound(1), Default: "1",
					About: "λ, by which the past counts less at each sample; 1 forgets nothing",
				},
				spec.Param("budget"),
				spec.Param("bandwidth"),
			},
			Numbers: func(p spec.Params, order, dim, classes float64) float64 {
				return spec.DictionaryNumbers(p, order, dim, classes) + order*(order+2) // L, P, and two vectors
			},
			Lines: []spec.Line{{Color: 0x7a2a6b, Dash: []float64{6, 1.5}, Width: 1.2}},
		},
		New: func(p Problem) (Learner, error) {
			return krls.New(krls.Config{
				Kernel:     p.Kernel,
				Dim:        p.Dim,
				Threshold:  p.Params.Own["threshold"],
				Noise:      p.Params.Own["noise"],
				Budget:     p.Params.Budget,
				Forgetting: p.Params.Own["forgetting"],
			})
		},
	})
}
