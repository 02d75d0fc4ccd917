package bsgd

import (
	"math"

	"polkrepro/internal/dataset"
	"polkrepro/kernel"
)

// Names of the schedules and of the maintenance strategies.
const (
	Constant = "constant" // η_t = η
	Inverse  = "inverse"  // η_t = 1/(λt)

	Removal    = "removal"
	Projection = "projection"
	Merging    = "merging"
	KeepNewest = "keep-newest"
)

// A Config is everything that determines a Learner.
type Config struct {
	Kernel       kernel.Kernel // κ; merging needs a kernel.Gaussian
	Classes      int           // C ≥ 2
	Dim          int           // p ≥ 1, features of a sample
	Regularizer  float64       // λ ≥ 0; above 0 for the inverse schedule
	LearningRate float64       // η > 0 with ηλ < 1; the inverse schedule does not use it
	Schedule     string        // "constant" or "inverse"
	Budget       int           // B ≥ 1, the largest model order
	Maintenance  string        // "removal", "projection", "merging" or "keep-newest"
}

// Validate returns all errors in c, joined, or nil if c is valid.
func (c Config) Validate() error {
	p := dataset.Problems{Package: "bsgd"}
	p.Model(c.Kernel, c.Classes, c.Dim)
	p.If(c.Budget < 1, "budget %d: must be at least 1", c.Budget)
	p.If(!finite(c.Regularizer) || c.Regularizer < 0, "regularizer %v: must be finite and at least 0", c.Regularizer)
	switch c.Maintenance {
	case Removal, Projection, KeepNewest:
	case Merging:
		_, gaussian := c.Kernel.(kernel.Gaussian)
		p.If(c.Kernel != nil && !gaussian, "merging needs the gaussian kernel, for which the best merged point lies on a known line")
	default:
		p.If(true, "unknown maintenance %q (have %s, %s, %s, %s)", c.Maintenance, Removal, Projection, Merging, KeepNewest)
	}
	switch c.Schedule {
	case Constant:
		p.If(!finite(c.LearningRate) || c.LearningRate <= 0, "learning rate %v is not a number > 0", c.LearningRate)
		p.If(c.LearningRate*c.Regularizer >= 1, "learning rate %v is not below 1/λ = %v: 1 − ηλ would not be positive",
			c.LearningRate, 1/c.Regularizer)
	case Inverse:
		p.If(c.Regularizer == 0, "the inverse schedule 1/(λt) needs a regularizer above 0")
	default:
		p.If(true, "unknown schedule %q (have %s, %s)", c.Schedule, Constant, Inverse)
	}
	return p.Err()
}

// rate returns η_t for the t-th sample, t = 1, 2, …
func (c Config) rate(t int64) float64 {
	if c.Schedule == Inverse {
		return 1 / (c.Regularizer * float64(t))
	}
	return c.LearningRate
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
