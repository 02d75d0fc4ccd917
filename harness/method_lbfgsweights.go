package harness

import (
	"context"
	"fmt"

	"polkrepro/baselines/lbfgs"
	"polkrepro/experiments"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

func init() {
	Register(Method{
		MethodInfo: experiments.MethodInfo{
			Name: "lbfgs-weights", Title: "L-BFGS over weights",
			About: "L-BFGS over the weights of all training points in their Euclidean inner product; an epoch is an iteration",
			Tasks: []string{experiments.TaskKSVM, experiments.TaskKLR},
			Params: []experiments.ParamInfo{
				experiments.Param("batch_size").WithAbout("samples a step; must be all training points"),
				{
					Name: "start", Symbol: "w₀", Kind: experiments.KindNumber, Least: prune.Bound(0), Default: "0.0005",
					About: "half-width of the uniform distribution of the first weights",
				},
				{
					Name: "memory", Symbol: "memory", Kind: experiments.KindInteger, Least: prune.Bound(1), Default: "10",
					About: "correction pairs",
				},
				experiments.Param("regularizer"),
				experiments.Param("bandwidth"),
			},
			Lines: []experiments.Line{{Color: 0x9b59b6, Dash: []float64{5, 1, 1, 1}, Width: 1.1}},
		},
		New:   newLBFGSWeights,
		Bytes: bytesLBFGS,
	})
}

// overWeights is L-BFGS over weights as a learner: a step is an iteration, which takes
// the whole training set, in whatever order.
type overWeights struct {
	*lbfgs.Weights
	n int // of the training set
}

func newLBFGSWeights(p Problem) (Learner, error) {
	if p.Params.BatchSize != p.Train.N {
		return nil, fmt.Errorf("mini-batches of %d samples: L-BFGS takes a whole training set in each step", p.Params.BatchSize)
	}
	w, err := lbfgs.NewWeights(lbfgs.WeightsConfig{
		Kernel:      p.Kernel,
		Loss:        p.Loss,
		Classes:     p.Classes,
		Dim:         p.Dim,
		Regularizer: p.Params.Regularizer,
		Memory:      int(p.Params.Own["memory"]),
		Start:       p.Params.Own["start"],
		Seed:        p.Seed,
	}, p.Train.N, p.Train.X, p.Train.Y)
	return overWeights{w, p.Train.N}, err
}

// Step takes an iteration; the samples must be the training set.
func (l overWeights) Step(ctx context.Context, n int, _ []float32, _ []float64) (kernel.Scored, error) {
	if n != l.n {
		return kernel.Scored{}, fmt.Errorf("a step of %d samples, want all %d of the training set", n, l.n)
	}
	return kernel.Scored{}, l.Iterate(ctx)
}

func (l overWeights) Model() kernel.Model { return l.Expansion() }
