package harness

import (
	"context"
	"math"

	"polkrepro/baselines/csvc"
	"polkrepro/spec"
)

func init() {
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: "csvc", Title: "C-SVC", Row: "libsvm", Seedless: true, Votes: true,
			About: "C-SVC as LIBSVM defines it",
			Tasks: []string{spec.TaskKSVM},
			Params: []spec.ParamInfo{
				spec.Param("cost").WithDefault("1"),
				spec.Param("multiclass"),
				spec.Param("tolerance").WithAbout("ε of the stopping condition, the largest violation of the optimality conditions").WithDefault("0.001"),
				spec.Param("bandwidth"),
			},
			Lines: []spec.Line{
				{Color: 0x1a1a1a, Dash: []float64{9, 2}, Width: 1.1},
			},
		},
		Train: trainCSVC,
		// The package keeps up to 1 GiB of kernel rows.
		Bytes: func(s Size) float64 { return min(1<<30, 4*s.Train*s.Train) + s.Scores() },
	})
}

// trainCSVC trains C-SVC and adds up the statistics of its two-class problems; of the
// violations it keeps the largest.
func trainCSVC(ctx context.Context, p BatchProblem) (*Trained, error) {
	r, err := csvc.Train(ctx, csvc.Config{
		Kernel: p.Kernel, Classes: p.Classes, Dim: p.Train.Dim, C: p.Params.Cost, Tolerance: p.Params.Tolerance,
		OneVsAll: p.Params.Multiclass == spec.MulticlassRest, Threads: p.Threads,
	}, p.Train.N, p.Train.X, p.Train.Y)
	if err != nil {
		return nil, err
	}
	h, evals := map[string]float64{"pairs": float64(len(r.Pairs))}, int64(0)
	for _, s := range r.Pairs {
		evals += s.KernelEvals
		h["iterations"] += float64(s.Iterations)
		h["dual_objective"] += s.Objective
		h["gap"] += s.Gap
		h["violation"] = max(h["violation"], s.Violation)
	}
	return &Trained{Model: votes{r.Model, p.Classes}, KernelEvals: evals, Health: h}, nil
}

// votes is a model whose score is 1 for the predicted class and 0 for all other classes.
type votes struct {
	*csvc.Model
	classes int
}

func (v votes) Order() int       { return v.NumSV() }
func (votes) NormSq(int) float64 { return math.NaN() }

func (v votes) Scores(n int, x []float32, dst []float64, threads int) {
	class := make([]float64, n)
	v.Predict(n, x, class, threads)
	clear(dst[:n*v.classes])
	for i, c := range class {
		dst[i*v.classes+int(c)] = 1
	}
}
