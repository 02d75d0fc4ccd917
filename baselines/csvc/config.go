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
	p.If(!(c.C > 0) || math.IsInf(c.C, 1), "C = %v is not a number above 0", c.C)
	p.If(!(c.Tolerance >= 0) || math.IsInf(c.Tolerance, 1), "tolerance %v: must be finite and at least 0", c.Tolerance)
	p.If(c.CacheBytes < 0, "cache of %d bytes", c.CacheBytes)
	p.If(c.Threads < 0, "%d threads", c.Threads)
	p.Kernel(c.Kernel)
	return p.Err()
}

func (c Config) withDefaults() Config {
	c.Tolerance = cmp.Or(c.Tolerance, defaultTolerance)
	c.CacheBytes = cmp.Or(c.CacheBytes, 1<<30)
	c.Threads = max(c.Threads, 1)
	return c
}
