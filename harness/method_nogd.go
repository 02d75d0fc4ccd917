package harness

import (
	"fmt"

	"polkrepro/baselines/nogd"
	"polkrepro/polk"
	"polkrepro/polk/prune"
	"polkrepro/spec"
)

func init() {
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: "nogd", Title: "NOGD",
			About:   "Nyström online gradient descent (Lu, Hoi, Wang, Zhao, Liu 2016)",
			AnyLoss: true,
			Params: []spec.ParamInfo{
				spec.Param("learning_rate"),
				oneSample("NOGD"),
				landmarks,
				{
					Name: "rank", Symbol: "k", Kind: spec.KindInteger, Least: prune.Bound(1),
					About: "k, the number of features, at most the landmarks",
				},
				spec.Param("bandwidth"),
			},
			Conflict: func(p spec.Params) (param, why string) {
				if k := p.Own["rank"]; k > float64(p.Budget) {
					return "rank", fmt.Sprintf("rank is %.0f, want at most the %d landmarks", k, p.Budget)
				}
				return "", ""
			},
			Numbers: func(p spec.Params, order, dim, classes float64) float64 {
				return nystromNumbers(order, dim, classes, min(order, p.Own["rank"]))
			},
			Lines: []spec.Line{{Color: 0x9c2f5f, Dash: []float64{6, 2, 1, 2}, Width: 1.2}},
		},
		New: func(p Problem) (Learner, error) {
			return newNystromSGD(p, nogd.Config{
				Rank:         int(p.Params.Own["rank"]),
				LearningRate: polk.Constant(p.Params.LearningRate),
			})
		},
	})
	Register(Method{
		MethodInfo: spec.MethodInfo{
			Name: "nystrom-sgd", Title: "Nyström-SGD",
			About:   "stochastic gradient descent on the Nyström features of the first B samples, with a regularizer",
			AnyLoss: true,
			Params: append(decayedRates("the method"),
				landmarks,
				spec.Param("regularizer"),
				spec.Param("bandwidth"),
			),
			Numbers: func(_ spec.Params, order, dim, classes float64) float64 {
				return nystromNumbers(order, dim, classes, order)
			},
			Lines: []spec.Line{{Color: 0xc76b98, Dash: []float64{2, 2, 5, 2}, Width: 1.1}},
		},
		New: func(p Problem) (Learner, error) {
			return newNystromSGD(p, nogd.Config{Every: true, Regularizer: p.Params.Regularizer, LearningRate: p.Rates})
		},
	})
}

var landmarks = spec.Param("budget").WithSymbol("B").WithAbout("B, the number of landmarks")

// nystromNumbers counts landmarks, the projection onto k features, and their weights.
func nystromNumbers(order, dim, classes, rank float64) float64 {
	return order*dim + order*rank + rank*classes
}

// newNystromSGD completes a configuration.
func newNystromSGD(p Problem, c nogd.Config) (Learner, error) {
	if b := p.Params.Budget; b <= p.Samples { // otherwise it never takes their kernel matrix
		if err := p.checkMemory("nogd", b, "landmarks"); err != nil {
			return nil, err
		}
	}
	c.Kernel, c.Loss, c.Classes, c.Dim, c.Landmarks = p.Kernel, p.Loss, p.Classes, p.Dim, p.Params.Budget
	return nogd.New(c)
}
