package harness

import (
	"context"

	"polkrepro/baselines/nystrom"
	"polkrepro/spec"
)

func init() {
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: "nystrom", Title: "Nyström",
			About: "linear model on Nyström features, a method of today",
			Tasks: []string{spec.TaskKSVM, spec.TaskKLR},
			Params: []spec.ParamInfo{
				spec.Param("budget").WithAbout("M, the number of landmarks"),
				spec.Param("tolerance").WithAbout("largest duality gap, relative to the objective").WithDefault("0.01"),
				spec.Param("regularizer"),
				spec.Param("bandwidth"),
			},
			Lines: []spec.Line{
				{Color: 0xa61e5c, Dash: []float64{3, 3}, Width: 1.1},
				{Color: 0xe07ba8, Dash: []float64{3, 1, 1, 1}, Width: 1.1},
			},
		},
		Train: trainNystrom,
		Bytes: func(s Size) float64 {
			m := min(float64(s.Params.Budget), s.Train)
			return 4*s.Train*m + 8*m*m + s.Scores()
		},
	})
}

func trainNystrom(ctx context.Context, p BatchProblem) (*Trained, error) {
	if err := p.checkMemory("nystrom", min(p.Params.Budget, p.Train.N), "landmarks"); err != nil {
		return nil, err
	}
	c := nystrom.Config{Config: configLBFGS(p.Problem, p.Threads), Landmarks: p.Params.Budget, Seed: p.Seed}
	c.Trace = closing(p.Progress, p.Params.Tolerance)
	r, err := nystrom.Train(ctx, c, p.Train.N, p.Train.X, p.Train.Y)
	if err != nil {
		return nil, err
	}
	return &Trained{Model: r.Expansion, KernelEvals: r.KernelEvals, Health: certificate(r.Objective, r.Gap, r.Iterations, r.Converged)}, nil
}
