package ivm

import (
	"cmp"
	"math"

	"polkrepro/internal/dataset"
	"polkrepro/kernel"
)

// A Config is everything that determines a training run.
type Config struct {
	Kernel      kernel.Kernel // κ
	Classes     int           // C ≥ 2
	Dim         int           // p ≥ 1, features of a sample
	Regularizer float64       // λ > 0

	// Candidates is the number of points tried for each import, drawn without replacement from
	// the points not yet imported; 0 means all of them. The best of 59 is among the best
	// twentieth of all with probability 0.95 (A. Smola, B. Schölkopf, "Sparse greedy matrix
	// approximation", ICML 2000).
	Candidates int
	MaxPoints  int // largest number of import points; 0 means no limit

	// Imports end when |H_k − H_{k−1}| < Tolerance·|H_k|, with the authors' Δk = 1. 0 means their
	// ε = 0.001.
	Tolerance float64

	Seed    uint64 // seeds the draw of the candidates
	Threads int    // goroutines; 0 means 1
}

// Validate returns all errors in c, joined, or nil if c is valid.
func (c Config) Validate() error {
	p := dataset.Problems{Package: "ivm"}
	p.Model(c.Kernel, c.Classes, c.Dim)
	p.If(!(c.Regularizer > 0) || math.IsInf(c.Regularizer, 1), "regularizer %v is not a number > 0", c.Regularizer)
	p.If(c.Candidates < 0, "%d candidates", c.Candidates)
	p.If(c.MaxPoints < 0, "at most %d points", c.MaxPoints)
	p.If(!(c.Tolerance >= 0) || c.Tolerance >= 1, "tolerance %v is not in [0, 1)", c.Tolerance)
	p.If(c.Threads < 0, "%d threads", c.Threads)
	return p.Err()
}

func (c Config) withDefaults() Config {
	c.Tolerance = cmp.Or(c.Tolerance, 1e-3)
	c.Threads = max(c.Threads, 1)
	return c
}
