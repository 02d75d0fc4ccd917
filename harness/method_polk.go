package harness

import (
	"polkrepro/polk"
	"polkrepro/polk/prune"
	"polkrepro/spec"
)

func init() {
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: spec.MethodPOLK, Title: "POLK",
			About:   "parsimonious online learning with kernels (the paper's Algorithm 2)",
			AnyLoss: true, Tasks: []string{spec.TaskRegression},
			Params: []spec.ParamInfo{
				spec.Param("learning_rate"),
				spec.Param("schedule").WithAbout("η_t = η, or η₀/(1 + t/t₀)"),
				spec.Param("horizon"),
				spec.Param("batch_size"),
				spec.Param("epsilon"),
				spec.Param("parsimony"),
				spec.Param("pruner"),
				spec.Param("pruner_params"),
				spec.Param("regularizer"),
				spec.Param("bandwidth"),
			},
			Numbers: func(p spec.Params, order, dim, classes float64) float64 {
				n := spec.DictionaryNumbers(p, order, dim, classes)
				if h, ok := prune.Lookup(p.PrunerName()); ok && h.Inverse() {
					n += order * order // K⁻¹
				}
				return n
			},
			Lines: []spec.Line{ // blue in every picture
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
	if err := p.checkMemory(spec.MethodPOLK, min(p.Params.BatchSize, p.Samples), "samples in a step"); err != nil {
		return nil, err
	}
	l, err := polk.New(polk.Config{
		Kernel: p.Kernel, Loss: p.Loss, Classes: p.Classes, Dim: p.Dim, Regularizer: p.Params.Regularizer,
		LearningRate: p.Rates, Budget: p.Params.Budgets(), Pruner: p.Pruner, Seed: p.Seed,
	})
	return polkLearner{l}, err
}

// A polkLearner is POLK as a [Learner].
type polkLearner struct{ *polk.Learner }

// Health returns the fields of [polk.Health] by their names in lower case.
func (l polkLearner) Health() map[string]float64 {
	h := l.Learner.Health()
	return map[string]float64{
		"residual":    h.Residual,
		"refinements": float64(h.Refinements),
		"repairs":     float64(h.Repairs),
		"folded":      float64(h.Folded),
		"dropped":     float64(h.Dropped),
	}
}
