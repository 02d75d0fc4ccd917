package bsgd

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"polkrepro/internal/dataset"
	"polkrepro/kernel"
	"polkrepro/polk"
)

// Names of the maintenance strategies.
const (
	Removal    = "removal"
	Projection = "projection"
	Merging    = "merging"
	KeepNewest = "keep-newest"
)

// Pegasos is the schedule η_t = 1/(λ·(t+1)), for the λ that it is, which must be the learner's.
type Pegasos float64

// Rate returns 1/(λ·(t+1)).
func (lambda Pegasos) Rate(t int) float64 { return 1 / (float64(lambda) * float64(t+1)) }

// A Config is everything that determines a Learner.
type Config struct {
	Kernel       kernel.Kernel // κ; merging needs a kernel.Gaussian
	Classes      int           // C ≥ 2
	Dim          int           // p ≥ 1, features of a sample
	Regularizer  float64       // λ ≥ 0
	LearningRate polk.Schedule // η_t < 1/λ; η_0 may be 1/λ, because f_0 = 0
	Budget       int           // B ≥ 1, the largest model order
	Maintenance  string        // "removal", "projection", "merging" or "keep-newest"
}

// Validate returns all errors in c, joined, or nil if c is valid.
func (c Config) Validate() error {
	p := dataset.Problems{Package: "bsgd"}
	p.Model(c.Kernel, c.Classes, c.Dim)
	p.If(c.Budget < 1, "Budget", c.Budget, "at least 1")
	p.If(!finite(c.Regularizer) || c.Regularizer < 0, "Regularizer", c.Regularizer, "finite and at least 0")
	p.If(c.LearningRate == nil, "LearningRate", nil, "set")
	if c.LearningRate != nil {
		p.Add("LearningRate", cmp.Or(c.checkRate(0), c.checkRate(1)))
	}
	switch c.Maintenance {
	case Removal, Projection, KeepNewest:
	case Merging:
		_, gaussian := c.Kernel.(kernel.Gaussian)
		p.If(c.Kernel != nil && !gaussian, "Maintenance", Merging, "used with the gaussian kernel, for which the best merged point lies on a known line")
	default:
		p.If(true, "Maintenance", strconv.Quote(c.Maintenance), fmt.Sprintf("%s, %s, %s or %s", Removal, Projection, Merging, KeepNewest))
	}
	return p.Err()
}

// checkRate reports an invalid learning rate of step t. At step 0 there is nothing to shrink by 1 − ηλ.
func (c Config) checkRate(t int) error {
	lambda := c.Regularizer
	if t == 0 {
		lambda = 0
	}
	return dataset.CheckRate(t, c.LearningRate.Rate(t), lambda)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
