package harness

import (
	"polkrepro/baselines/krls"
	"polkrepro/experiments"
	"polkrepro/polk/prune"
)

func init() {
	Register(Method{
		MethodInfo: experiments.MethodInfo{
			Name: "krls", Title: "KRLS",
			About: "kernel recursive least squares with a budget and forgetting (Engel, Mannor, Meir 2004; Van Vaerenbergh, Lázaro-Gredilla, Santamaría 2012)",
			Tasks: []string{experiments.TaskRegression},
			Params: []experiments.ParamInfo{
				oneSample("KRLS"),
				{
					Name: "threshold", Symbol: "ν", Kind: experiments.KindNumber, Least: prune.Bound(0), Default: "0.0001",
					About: "ν, the squared distance from the dictionary's span above which a sample enters",
				},
				{
					Name: "noise", Symbol: "σ²", Kind: experiments.KindNumber, Least: prune.Bound(1e-100),
					About: "σ², the variance of the targets' noise: the ridge of the least squares",
				},
				{
					Name: "forgetting", Symbol: "λ", Kind: experiments.KindNumber, Above: prune.Bound(0), Most: prune.Bound(1), Default: "1",
					About: "λ, by which the past counts less at each sample; 1 forgets nothing",
				},
				experiments.Param("budget"),
				experiments.Param("bandwidth"),
			},
			Numbers: func(p experiments.Params, order, dim, classes float64) float64 {
				return experiments.DictionaryNumbers(p, order, dim, classes) + order*(order+2) // L, P, and two vectors
			},
			Lines: []experiments.Line{{Color: 0x7a2a6b, Dash: []float64{6, 1.5}, Width: 1.2}},
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
