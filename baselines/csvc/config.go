package csvc

import (
	"cmp"
	"math"

	"polkrepro/internal/dataset"
	"polkrepro/kernel"
)

const defaultTolerance = 1e-3

// A Config is everything that determines a training run.
type Config struct {
	Kernel    kernel.Kernel // κ
	Classes   int           // ≥ 2, of which at least two must occur
	Dim       int           // p ≥ 1, features of a sample
	C         float64       // > 0, the largest α
	Tolerance float64       // ε of the optimality conditions; 0 means LIBSVM's 1e-3
	OneVsAll  bool          // one problem per class against all others; LIBSVM has one per pair

	// CacheBytes bounds the memory of the kernel rows kept for one problem; as many problems as
	// Threads are solved at once. Some 50 rows are kept whatever the bound. 0 means 1 GiB.
	CacheBytes int64

	Threads int // goroutines; 0 means 1
}

// Validate returns all errors in c, joined, or nil if c is valid.
func (c Config) Validate() error {
	p := dataset.Problems{Package: "csvc"}
	p.Model(c.Kernel, c.Classes, c.Dim)
	p.If(!(c.C > 0) || math.IsInf(c.C, 1), "C", c.C, "above 0 and finite")
	p.If(!(c.Tolerance >= 0) || math.IsInf(c.Tolerance, 1), "Tolerance", c.Tolerance, "finite and at least 0")
	p.If(c.CacheBytes < 0, "CacheBytes", c.CacheBytes, "at least 0")
	p.If(c.Threads < 0, "Threads", c.Threads, "at least 0")
	return p.Err()
}

func (c Config) withDefaults() Config {
	c.Tolerance = cmp.Or(c.Tolerance, defaultTolerance)
	c.CacheBytes = cmp.Or(c.CacheBytes, 1<<30)
	c.Threads = max(c.Threads, 1)
	return c
}
