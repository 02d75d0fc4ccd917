package kernel

import (
	"errors"
	"fmt"
	"math"
)

func init() { Register[Polynomial]() }

// Polynomial is κ(x, x') = (xᵀx' + b)^c (Section 2.1).
type Polynomial struct {
	Offset float64 // b ≥ 0
	Degree int     // c ≥ 1
}

// Name returns "polynomial".
func (Polynomial) Name() string { return "polynomial" }

// Eval returns (xᵀy + b)^c.
func (k Polynomial) Eval(x, y []float32) float64 {
	if len(x) != len(y) {
		panic(badLength)
	}
	var s float64
	for i, v := range x {
		s += float64(float64(v) * float64(y[i]))
	}
	return powi(s+k.Offset, k.Degree)
}

// Self returns (xᵀx + b)^c.
func (k Polynomial) Self(x []float32) float64 { return k.Eval(x, x) }

// Validate returns an error if the offset or the degree makes κ not positive semidefinite.
func (k Polynomial) Validate() error {
	var errs []error
	if !(k.Offset >= 0) || math.IsInf(k.Offset, 1) {
		errs = append(errs, fmt.Errorf("kernel: offset %v: must be finite and at least 0", k.Offset))
	}
	if k.Degree < 1 {
		errs = append(errs, fmt.Errorf("kernel: degree %d: must be at least 1", k.Degree))
	}
	return errors.Join(errs...)
}
