package harness

import (
	"context"
	"fmt"
	"math"

	"polkrepro/baselines/csvc"
	"polkrepro/baselines/ivm"
	"polkrepro/baselines/lbfgs"
	"polkrepro/baselines/nystrom"
	"polkrepro/baselines/rff"
	"polkrepro/experiments"
	"polkrepro/kernel"
)

// BatchMethods returns the batch methods that specs can name.
func BatchMethods() map[string]BatchMethod {
	return map[string]BatchMethod{
		experiments.MethodCSVC:    trainCSVC,
		experiments.MethodLBFGS:   trainLBFGS,
		experiments.MethodIVM:     trainIVM,
		experiments.MethodNystrom: trainNystrom,
		experiments.MethodRFF:     trainRFF,
	}
}

// trainCSVC adds up what the classes' pairs say of themselves.
func trainCSVC(ctx context.Context, p BatchProblem) (*Trained, error) {
	m, stats, err := csvc.Train(ctx, csvc.Config{
		Kernel:    p.Kernel,
		C:         p.Params.Cost,
		Tolerance: p.Params.Tolerance,
		Threads:   p.Threads,
	}, p.Train.N, p.Train.Dim, p.Train.X, p.Train.Y, p.Classes)
	if err != nil {
		return nil, err
	}
	h := map[string]float64{"pairs": float64(len(stats.Pairs))}
	for _, s := range stats.Pairs {
		h["iterations"] += float64(s.Iterations)
		h["dual_objective"] += s.Objective
		h["gap"] += s.Gap
		h["violation"] = max(h["violation"], s.Violation)
	}
	return &Trained{Predict: m.Predict, Order: m.NumSV(), KernelEvals: stats.KernelEvals, Health: h}, nil
}

func trainLBFGS(ctx context.Context, p BatchProblem) (*Trained, error) {
	report := closing(p.Progress, p.Params.Tolerance)
	r, err := lbfgs.Train(ctx, lbfgs.Config{
		Kernel:      p.Kernel,
		Loss:        p.Loss,
		Classes:     p.Classes,
		Dim:         p.Dim,
		Regularizer: p.Params.Regularizer,
		Tolerance:   p.Params.Tolerance,
		// The zero of both is the package's default.
		MaxIterations: p.Params.Iterations,
		MaxBytes:      p.Memory,
		Threads:       p.Threads,
	}, p.Train.N, p.Train.X, p.Train.Y, func(q lbfgs.Progress) error {
		report(q.Gap / q.Objective)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Trained{Expansion: r.Expansion, KernelEvals: r.KernelEvals, Health: map[string]float64{
		"objective":     r.Objective,
		"gap":           r.Gap,
		"gradient_norm": r.GradientNorm,
		"iterations":    float64(r.Iterations),
		"products":      float64(r.Products),
		"unconverged":   indicator(!r.Converged),
	}}, nil
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
	}, p.Train.N, p.Train.X, p.Train.Y, func(q ivm.Progress) error {
		p.Progress(float64(q.Points) / float64(p.Params.Budget))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Trained{Expansion: r.Expansion, KernelEvals: r.KernelEvals, Health: map[string]float64{
		"objective":     r.Objective,
		"gap":           r.Gap,
		"gradient_norm": r.GradientNorm,
		"unconverged":   indicator(r.Reason != ivm.Converged && r.Reason != ivm.Full),
	}}, nil
}

func trainNystrom(ctx context.Context, p BatchProblem) (*Trained, error) {
	report := closing(p.Progress, p.Params.Tolerance)
	r, err := nystrom.Train(ctx, nystrom.Config{
		Kernel:      p.Kernel,
		Loss:        p.Loss,
		Classes:     p.Classes,
		Dim:         p.Dim,
		Regularizer: p.Params.Regularizer,
		Landmarks:   p.Params.Budget,
		Tolerance:   p.Params.Tolerance,
		Seed:        p.Seed,
		Threads:     p.Threads,
	}, p.Train.N, p.Train.X, p.Train.Y, func(q nystrom.Progress) error {
		report(q.Gap / q.Objective)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Trained{Expansion: r.Expansion, KernelEvals: r.KernelEvals, Health: map[string]float64{
		"objective":   r.Objective,
		"gap":         r.Gap,
		"iterations":  float64(r.Iterations),
		"unconverged": indicator(!r.Converged),
	}}, nil
}

func trainRFF(ctx context.Context, p BatchProblem) (*Trained, error) {
	k, ok := p.Kernel.(kernel.Gaussian)
	if !ok {
		return nil, fmt.Errorf("random Fourier features need the gaussian kernel, not %s", p.Kernel.Name())
	}
	report := closing(p.Progress, p.Params.Tolerance)
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
	}, p.Train.N, p.Train.X, p.Train.Y, func(q rff.Progress) error {
		report(q.Gap / q.Objective)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Trained{Scores: r.Model.Scores, NormSq: r.Model.NormSq(), Order: r.Model.Order(), Health: map[string]float64{
		"objective":   r.Objective,
		"gap":         r.Gap,
		"iterations":  float64(r.Iterations),
		"unconverged": indicator(!r.Converged),
	}}, nil
}

// closing returns a function that reports how far a relative gap has come from
// its first value towards the tolerance, in orders of magnitude.
func closing(progress func(fraction float64), tolerance float64) func(gap float64) {
	first := 0.0
	return func(gap float64) {
		if first == 0 {
			first = gap
		}
		if gap > 0 && tolerance > 0 && first > tolerance {
			progress(min(1, max(0, math.Log(first/gap)/math.Log(first/tolerance))))
		}
	}
}

// indicator is 1 for true.
func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
