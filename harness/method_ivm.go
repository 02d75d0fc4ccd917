package harness

import (
	"context"

	"polkrepro/baselines/ivm"
	"polkrepro/spec"
)

func init() {
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: "ivm", Title: "IVM",
			About: "import vector machine (Zhu and Hastie 2005)",
			Tasks: []string{spec.TaskKLR},
			Params: []spec.ParamInfo{
				spec.Param("candidates").WithDefault("0"),
				spec.Param("budget").WithAbout("most import points").WithDefault("1000"),
				spec.Param("tolerance").WithAbout("least relative decrease of the objective that an import must bring").WithDefault("0.001"),
				spec.Param("regularizer"),
				spec.Param("bandwidth"),
			},
			Lines: []spec.Line{
				{Color: 0x1b7a4b, Dash: []float64{4, 1.5, 1, 1.5}, Width: 1.1},
				{Color: 0x8fd0b0, Dash: []float64{5, 1.5, 1, 1.5}, Width: 1},
			},
		},
		Train: trainIVM,
		Bytes: func(s Size) float64 {
			return s.Train*(12*float64(s.Params.Budget)+8*s.Classes*s.Classes) + s.Scores()
		},
	})
}

func trainIVM(ctx context.Context, p BatchProblem) (*Trained, error) {
	r, err := ivm.Train(ctx, ivm.Config{
		Kernel:      p.Kernel,
		Classes:     p.Classes,
		Dim:         p.Dim,
		Regularizer: p.Params.Regularizer,
		Candidates:  p.Params.Candidates,
		MaxPoints:   p.Params.Budget,
		Tolerance:   p.Params.Tolerance,
		Seed:        p.Seed,
		Threads:     p.Threads,
		Trace: func(points int, _ float64) error {
			p.Progress(float64(points) / float64(p.Params.Budget))
			return nil
		},
	}, p.Train.N, p.Train.X, p.Train.Y)
	if err != nil {
		return nil, err
	}
	return &Trained{Model: r.Expansion, KernelEvals: r.KernelEvals, Health: map[string]float64{
		"objective":     r.Objective,
		"gap":           r.Gap,
		"gradient_norm": r.GradientNorm,
		"unconverged":   indicator(r.Reason != ivm.Converged && r.Reason != ivm.Full),
	}}, nil
}
