package harness

import (
	"polkrepro/experiments"
	"polkrepro/polk"
	"polkrepro/polk/prune"
)

func init() {
	Register(Method{
		MethodInfo: experiments.MethodInfo{
			Name: experiments.MethodPOLK, Title: "POLK",
			About:   "parsimonious online learning with kernels (the paper's Algorithm 2)",
			AnyLoss: true, Tasks: []string{experiments.TaskRegression},
			Params: []experiments.ParamInfo{
				experiments.Param("learning_rate"),
				experiments.Param("schedule").WithAbout("η_t = η, or η₀/(1 + t/t₀)"),
				experiments.Param("horizon"),
				experiments.Param("batch_size"),
				experiments.Param("epsilon"),
				experiments.Param("parsimony"),
				experiments.Param("pruner"),
				experiments.Param("pruner_params"),
				experiments.Param("regularizer"),
				experiments.Param("bandwidth"),
			},
			Numbers: func(p experiments.Params, order, dim, classes float64) float64 {
				n := experiments.DictionaryNumbers(p, order, dim, classes)
				if h, ok := prune.Lookup(p.PrunerName()); ok && h.Inverse() {
					n += order * order // K⁻¹
				}
				return n
			},
			Lines: []experiments.Line{ // blue in every picture
				{Color: 0x084594, Width: 1.2},
				{Color: 0x3490d6, Dash: []float64{6, 2}, Width: 1.2},
				{Color: 0x08306b, Dash: []float64{3, 1.2}, Width: 1},
				{Color: 0x6baed6, Dash: []float64{1.5, 1}, Width: 1.2},
			},
		},
		New: newPOLK,
	})
}

func newPOLK(p Problem) (Learner, error) {
	if err := p.checkMemory(experiments.MethodPOLK, min(p.Params.BatchSize, p.Samples), "samples in a step"); err != nil {
		return nil, err
	}
	return polk.New(polk.Config{
		Kernel:       p.Kernel,
		Loss:         p.Loss,
		Classes:      p.Classes,
		Dim:          p.Dim,
		Regularizer:  p.Params.Regularizer,
		LearningRate: p.Rates,
		Budget:       p.Params.Budgets(),
		Pruner:       p.Pruner,
		Seed:         p.Seed,
	})
}
