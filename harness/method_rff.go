package harness

import (
	"context"
	"fmt"

	"polkrepro/baselines/rff"
	"polkrepro/experiments"
	"polkrepro/kernel"
)

func init() {
	Register(Method{
		MethodInfo: experiments.MethodInfo{
			Name: "rff", Title: "RFF",
			About: "linear model on random Fourier features, a method of today",
			Tasks: []string{experiments.TaskKSVM, experiments.TaskKLR},
			Params: []experiments.ParamInfo{
				experiments.Param("budget").WithAbout("M, the number of frequencies"),
				experiments.Param("tolerance").WithAbout("largest duality gap, relative to the objective").WithDefault("0.01"),
				experiments.Param("regularizer"),
				experiments.Param("bandwidth"),
			},
			Conflict: fourierConflict,
			Lines: []experiments.Line{
				{Color: 0x5b8f2f, Dash: []float64{1.5, 2.5}, Width: 1.3},
				{Color: 0x9cc26b, Dash: []float64{1, 1}, Width: 1.3},
			},
		},
		Train: trainRFF,
		Bytes: func(s Size) float64 { return 8*s.Train*float64(s.Params.Budget) + s.Scores() },
	})
}

func trainRFF(ctx context.Context, p BatchProblem) (*Trained, error) {
	k, ok := p.Kernel.(kernel.Gaussian)
	if !ok {
		return nil, fmt.Errorf("random Fourier features need the gaussian kernel, not %s", p.Kernel.Name())
	}
	r, err := rff.Train(ctx, rff.Config{
		Kernel:      k,
		Loss:        p.Loss,
		Classes:     p.Classes,
		Dim:         p.Dim,
		Regularizer: p.Params.Regularizer,
		Frequencies: p.Params.Budget,
		Tolerance:   p.Params.Tolerance,
		Seed:        p.Seed,
		Threads:     p.Threads,
	}, p.Train.N, p.Train.X, p.Train.Y, closing(p.Progress, p.Params.Tolerance))
	if err != nil {
		return nil, err
	}
	return &Trained{Scores: r.Model.Scores, NormSq: r.Model.NormSq(), Order: r.Model.Order(), Health: certificate(r.Objective, r.Gap, r.Iterations, r.Converged)}, nil
}
