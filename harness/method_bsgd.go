package harness

import (
	"polkrepro/baselines/bsgd"
	"polkrepro/experiments"
)

func init() {
	Register(Method{
		MethodInfo: experiments.MethodInfo{
			Name: "bsgd", Title: "BSGD",
			About: "budgeted stochastic gradient descent (Wang, Crammer, Vucetic 2012)",
			Tasks: []string{experiments.TaskKSVM},
			Params: []experiments.ParamInfo{
				experiments.Param("learning_rate").UsedWhen("with schedule: constant",
					func(p experiments.Params) bool { return p.Schedule == experiments.ScheduleConstant }),
				experiments.Param("schedule").WithAbout("η_t = η, or 1/(λt)"),
				oneSample("BSGD"),
				experiments.Param("budget").WithSymbol("B").WithAbout("B, the largest model order"),
				experiments.Param("maintenance"),
				experiments.Param("regularizer"),
				experiments.Param("bandwidth"),
			},
			Conflict: func(p experiments.Params) (param, why string) {
				if p.Maintenance == "merging" && !gaussian(p) {
					return "maintenance", "merging is defined for the Gaussian kernel only, and the kernel is " + p.Kernel.Type
				}
				return "", ""
			},
			Numbers: func(p experiments.Params, order, dim, classes float64) float64 {
				n := experiments.DictionaryNumbers(p, order, dim, classes)
				if p.Maintenance == bsgd.Projection || p.Maintenance == bsgd.KeepNewest {
					n += order * (order + 1) / 2 // the factor of K
				}
				return n
			},
			Lines: []experiments.Line{ // orange in every picture
				{Color: 0xb84300, Dash: []float64{6, 1.5, 1.5, 1.5}, Width: 1.2},
				{Color: 0xf2a030, Dash: []float64{2.5, 1.5}, Width: 1.2},
				{Color: 0x8c2d04, Dash: []float64{1.5, 1}, Width: 1},
			},
		},
		New: newBSGD,
	})
}

func newBSGD(p Problem) (Learner, error) {
	return bsgd.New(bsgd.Config{
		Kernel:       p.Kernel,
		Classes:      p.Classes,
		Dim:          p.Dim,
		Regularizer:  p.Params.Regularizer,
		LearningRate: p.Params.LearningRate,
		Schedule:     p.Params.Schedule,
		Budget:       p.Params.Budget,
		Maintenance:  p.Params.Maintenance,
	})
}
