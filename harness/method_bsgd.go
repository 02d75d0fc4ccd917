package harness

import (
	"polkrepro/baselines/bsgd"
	"polkrepro/spec"
)

func init() {
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: "bsgd", Title: "BSGD",
			About: "budgeted stochastic gradient descent (Wang, Crammer, Vucetic 2012)",
			Tasks: []string{spec.TaskKSVM},
			Params: []spec.ParamInfo{
				spec.Param("learning_rate").UsedWhen("with schedule: constant",
					func(p spec.Params) bool { return p.Schedule == spec.ScheduleConstant }),
				spec.Param("schedule").WithAbout("η_t = η, or 1/(λt)"),
				oneSample("BSGD"),
				spec.Param("budget").WithSymbol("B").WithAbout("B, the largest model order"),
				spec.Param("maintenance"),
				spec.Param("regularizer"),
				spec.Param("bandwidth"),
			},
			Conflict: func(p spec.Params) (param, why string) {
				if p.Maintenance == "merging" && !gaussian(p) {
					return "maintenance", "merging is defined for the Gaussian kernel only, and the kernel is " + p.Kernel.Type
				}
				return "", ""
			},
			Numbers: func(p spec.Params, order, dim, classes float64) float64 {
				n := spec.DictionaryNumbers(p, order, dim, classes)
				if factored(p) {
					n += order * (order + 1) / 2 // the factor of K
				}
				return n
			},
			Lines: []spec.Line{ // orange in every picture
				{Color: 0xb84300, Dash: []float64{6, 1.5, 1.5, 1.5}, Width: 1.2},
				{Color: 0xf2a030, Dash: []float64{2.5, 1.5}, Width: 1.2},
				{Color: 0x8c2d04, Dash: []float64{1.5, 1}, Width: 1},
			},
		},
		New:   newBSGD,
		Bytes: bytesBSGD,
	})
}

// bytesBSGD returns the size of the weights, the kernel values of a window and, for the strategies
// that keep a factor of K, of that and its buffers.
func bytesBSGD(s Size) float64 {
	bytes := s.Order * (8*s.Classes + 12*s.Dim + 256)
	if factored(s.Params) {
		bytes += s.Order * (8*s.Order + 1024)
	}
	return bytes + s.Scores()
}

// factored reports whether the strategy keeps a factor of K.
func factored(p spec.Params) bool {
	return p.Maintenance == bsgd.Projection || p.Maintenance == bsgd.KeepNewest
}

func newBSGD(p Problem) (Learner, error) {
	budget := min(p.Params.Budget, p.Samples) // the largest order that the run can reach; its buffers have this size
	if err := p.checkMemory("bsgd", budget, "elements"); err != nil {
		return nil, err
	}
	rates := p.Rates
	if p.Params.Schedule == spec.ScheduleInverse {
		rates = bsgd.Pegasos(p.Params.Regularizer)
	}
	return bsgd.New(bsgd.Config{
		Kernel: p.Kernel, Classes: p.Classes, Dim: p.Dim, Regularizer: p.Params.Regularizer, LearningRate: rates,
		Budget: budget, Maintenance: p.Params.Maintenance,
	})
}
