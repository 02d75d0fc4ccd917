package lbfgs

import (
	"cmp"
	"math"

	"polkrepro/internal/dataset"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// A Config states the objective that Train minimizes, the accuracy to reach, and the resources to
// use.
type Config struct {
	Kernel      kernel.Kernel // κ
	Loss        loss.Loss     // loss.MultiHinge or loss.MultiLogistic
	Classes     int           // C ≥ 2
	Dim         int           // p ≥ 1, features of a sample
	Regularizer float64       // λ > 0: without it there is no dual bound

	Tolerance     float64 // training ends at gap ≤ Tolerance·objective; 0 means 1e-3
	MaxIterations int     // training ends there, converged or not; 0 means 10,000
	Memory        int     // correction pairs; 0 means 20
	Threads       int     // goroutines; 0 means 1

	// Trace, unless nil, is called after each iteration. Its error ends training.
	Trace func(objective, gap float64) error

	partSize  int // smallest number of samples at which some are set aside; 0 means 4,096
	group     int // largest number of vectors in one pass over K; 0 means 12
	exactSize int // largest number of samples whose kernel matrix is kept in float64; 0 means 8,192
}

// Validate returns all errors in c, joined, or nil if c is valid.
func (c Config) Validate() error {
	p := dataset.Problems{Package: "lbfgs"}
	p.Model(c.Kernel, c.Classes, c.Dim)
	p.If(!(c.Regularizer > 0) || math.IsInf(c.Regularizer, 1), "Regularizer", c.Regularizer, "above 0 and finite")
	p.If(!(c.Tolerance >= 0) || c.Tolerance >= 1, "Tolerance", c.Tolerance, "at least 0 and below 1")
	p.If(c.MaxIterations < 0, "MaxIterations", c.MaxIterations, "at least 0")
	p.If(c.Memory < 0, "Memory", c.Memory, "at least 0")
	p.If(c.Threads < 0, "Threads", c.Threads, "at least 0")
	_, err := newDualLoss(c.Loss)
	p.Add("Loss", err)
	return p.Err()
}

// withDefaults replaces zero fields by their defaults.
func (c Config) withDefaults() Config {
	c.Tolerance = cmp.Or(c.Tolerance, 1e-3)
	c.MaxIterations = cmp.Or(c.MaxIterations, 10000)
	c.Memory = cmp.Or(c.Memory, 20)
	c.exactSize = cmp.Or(c.exactSize, 8192) // half a gibibyte
	c.partSize = cmp.Or(c.partSize, 4096)
	c.group = cmp.Or(c.group, gramGroup)
	c.Threads = max(c.Threads, 1)
	return c
}

// selects reports whether some of n samples may be set aside.
func (c Config) selects(n int) bool {
	_, ok := c.Loss.(loss.MultiHinge)
	return ok && n >= c.partSize
}
