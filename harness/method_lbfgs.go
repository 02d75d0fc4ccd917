package harness

import (
	"context"

	"polkrepro/baselines/lbfgs"
	"polkrepro/spec"
)

func init() {
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: "lbfgs", Title: "L-BFGS", Seedless: true,
			About: "batch kernel machine over all training points by L-BFGS",
			Tasks: []string{spec.TaskKSVM, spec.TaskKLR},
			Params: []spec.ParamInfo{
				spec.Param("tolerance").WithAbout("largest duality gap, relative to the objective").WithDefault("0.001"),
				spec.Param("iterations").WithAbout("most iterations; 0 for as many as the tolerance asks for, at most 10,000").WithDefault("0"),
				spec.Param("regularizer"),
				spec.Param("bandwidth"),
			},
			Lines: []spec.Line{
				{Color: 0x6a1b8a, Dash: []float64{8, 2, 2, 2, 2, 2}, Width: 1.1},
			},
		},
		Train: trainLBFGS,
		// The hinge keeps a second copy of a part of the kernel matrix, at most a sixth.
		Bytes: func(s Size) float64 { return bytesLBFGS(s) + kernelMatrix(s)/6 },
	})
}

func trainLBFGS(ctx context.Context, p BatchProblem) (*Trained, error) {
	if err := p.checkMemory("lbfgs", p.Train.N, "samples"); err != nil {
		return nil, err
	}
	c := configLBFGS(p.Problem, p.Threads)
	c.Trace = closing(p.Progress, p.Params.Tolerance)
	r, err := lbfgs.Train(ctx, c, p.Train.N, p.Train.X, p.Train.Y)
	if err != nil {
		return nil, err
	}
	health := certificate(r.Objective, r.Gap, r.Iterations, r.Converged)
	health["gradient_norm"] = r.GradientNorm
	health["products"] = float64(r.Products)
	return &Trained{Model: r.Expansion, KernelEvals: r.KernelEvals, Health: health}, nil
}

// configLBFGS returns the configuration of package lbfgs for a problem. A
// hyper-parameter of 0 selects the package's default.
func configLBFGS(p Problem, threads int) lbfgs.Config {
	return lbfgs.Config{
		Kernel: p.Kernel, Loss: p.Loss, Classes: p.Classes, Dim: p.Dim, Regularizer: p.Params.Regularizer,
		Tolerance: p.Params.Tolerance, MaxIterations: p.Params.Iterations, Threads: threads,
	}
}

// bytesLBFGS returns the size of the kernel matrix and 48 functions.
func bytesLBFGS(s Size) float64 { return kernelMatrix(s) + 48*8*s.Classes*s.Train }

// kernelMatrix returns the size of the kernel matrix in bytes. Package lbfgs keeps it in
// float64 up to 8192 points and in float32 beyond.
func kernelMatrix(s Size) float64 {
	if s.Train <= 8192 {
		return 8 * s.Train * s.Train
	}
	return 4 * s.Train * s.Train
}
