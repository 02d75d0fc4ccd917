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

	// Trace, unless nil, is called after each import, with the number of import points and H. Its
	// error ends training.
	Trace func(points int, objective float64) error
}

// Validate returns all errors in c, joined, or nil if c is valid.
func (c Config) Validate() error {
	p := dataset.Problems{Package: "ivm"}
	p.Model(c.Kernel, c.Classes, c.Dim)
	p.If(!(c.Regularizer > 0) || math.IsInf(c.Regularizer, 1), "Regularizer", c.Regularizer, "above 0 and finite")
	p.If(c.Candidates < 0, "Candidates", c.Candidates, "at least 0")
	p.If(c.MaxPoints < 0, "MaxPoints", c.MaxPoints, "at least 0")
	p.If(!(c.Tolerance >= 0) || c.Tolerance >= 1, "Tolerance", c.Tolerance, "at least 0 and below 1")
	p.If(c.Threads < 0, "Threads", c.Threads, "at least 0")
	return p.Err()
}

func (c Config) withDefaults() Config {
	c.Tolerance = cmp.Or(c.Tolerance, 1e-3)
	c.Threads = max(c.Threads, 1)
	return c
}
