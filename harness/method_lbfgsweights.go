package harness

import (
	"fmt"

	"polkrepro/baselines/lbfgs"
	"polkrepro/polk/prune"
	"polkrepro/spec"
)

func init() {
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: "lbfgs-weights", Title: "L-BFGS over weights",
			About: "L-BFGS over the weights of all training points in their Euclidean inner product; an epoch is an iteration",
			Tasks: []string{spec.TaskKSVM, spec.TaskKLR},
			Params: []spec.ParamInfo{
				spec.Param("batch_size").WithAbout("samples a step; must be all training points"),
				{
					Name: "start", Symbol: "w₀", Kind: spec.KindNumber, Least: prune.Bound(0), Default: "0.0005",
					About: "half-width of the uniform distribution of the first weights",
				},
				{
					Name: "memory", Symbol: "memory", Kind: spec.KindInteger, Least: prune.Bound(1), Default: "10",
					About: "correction pairs",
				},
				spec.Param("regularizer"),
				spec.Param("bandwidth"),
			},
			Lines: []spec.Line{{Color: 0x9b59b6, Dash: []float64{5, 1, 1, 1}, Width: 1.1}},
		},
		New:   newLBFGSWeights,
		Bytes: bytesLBFGS,
	})
}

func newLBFGSWeights(p Problem) (Learner, error) {
	if p.Params.BatchSize != p.Train.N {
		return nil, fmt.Errorf("mini-batches of %d samples: L-BFGS takes a whole training set in each step", p.Params.BatchSize)
	}
	if err := p.checkMemory("lbfgs-weights", p.Train.N, "samples"); err != nil {
		return nil, err
	}
	c := configLBFGS(p, 1)
	c.Memory = int(p.Params.Own["memory"])
	return lbfgs.NewWeights(c, p.Params.Own["start"], p.Seed, p.Train.N, p.Train.Dense().X, p.Train.Y)
}
