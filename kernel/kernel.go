// Package kernel holds the kernel functions κ, the sets of points they are
// evaluated against, and the kernel expansions f = Σ w_j κ(d_j, ·) that every
// learner of this module produces.
package kernel

import (
	"errors"
	"fmt"
	"math"
)

// A Kernel is a positive semidefinite function κ(x, x').
type Kernel interface {
	// Name is the identifier used in specs and saved models.
	Name() string

	// Eval returns κ(x, y) computed in float64. It panics if the lengths
	// differ.
	Eval(x, y []float32) float64

	// Self returns κ(x, x).
	Self(x []float32) float64

	// Validate reports parameters that do not make a kernel.
	Validate() error

	block64(p *Points, n int, x []float64, dst []float64, ldd, threads int)
	block32(p *Points, n int, x []float32, dst []float32, ldd, threads int)
	error32(dim int, norm float64) float64
}

const badLength = "kernel: vectors differ in length"

// Gaussian is κ(x, x') = exp(−‖x−x'‖² / (2c²)), the paper's radial basis
// kernel (Section 2.1).
type Gaussian struct {
	Bandwidth float64 // c > 0
}

// Gamma returns the γ of LIBSVM's exp(−γ‖x−x'‖²), 1/(2c²).
func (g Gaussian) Gamma() float64 { return 1 / (2 * g.Bandwidth * g.Bandwidth) }

// Name returns "gaussian".
func (Gaussian) Name() string { return "gaussian" }

// Eval returns exp(−‖x−y‖²/(2c²)).
func (g Gaussian) Eval(x, y []float32) float64 {
	if len(x) != len(y) {
		panic(badLength)
	}
	var s float64
	for i, v := range x {
		d := float64(v) - float64(y[i])
		s += float64(d * d)
	}
	return math.Exp(-g.Gamma() * s)
}

// Self returns 1.
func (Gaussian) Self([]float32) float64 { return 1 }

// Validate reports a bandwidth that is not a positive number.
func (g Gaussian) Validate() error {
	if !(g.Bandwidth > 0) || math.IsInf(g.Bandwidth, 1) {
		return fmt.Errorf("kernel: bandwidth %v is not a positive number", g.Bandwidth)
	}
	return nil
}

func (g Gaussian) block64(p *Points, n int, x []float64, dst []float64, ldd, threads int) {
	p.p64.Gaussian(n, x, p.dim, g.Gamma(), dst, ldd, threads)
}

func (g Gaussian) block32(p *Points, n int, x []float32, dst []float32, ldd, threads int) {
	p.p32.Gaussian(n, x, p.dim, float32(g.Gamma()), dst, ldd, threads)
}

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

// Validate reports an offset or a degree for which κ is not positive
// semidefinite.
func (k Polynomial) Validate() error {
	var errs []error
	if !(k.Offset >= 0) || math.IsInf(k.Offset, 1) {
		errs = append(errs, fmt.Errorf("kernel: offset %v is not a number ≥ 0", k.Offset))
	}
	if k.Degree < 1 {
		errs = append(errs, fmt.Errorf("kernel: degree %d is below 1", k.Degree))
	}
	return errors.Join(errs...)
}

func (k Polynomial) block64(p *Points, n int, x []float64, dst []float64, ldd, threads int) {
	p.p64.MulABT(n, x, p.dim, dst, ldd, threads)
	raise(dst, n, p.Len(), ldd, k)
}

func (k Polynomial) block32(p *Points, n int, x []float32, dst []float32, ldd, threads int) {
	p.p32.MulABT(n, x, p.dim, dst, ldd, threads)
	raise(dst, n, p.Len(), ldd, k)
}

func raise[T float32 | float64](dst []T, n, m, ldd int, k Polynomial) {
	for i := range n {
		row := dst[i*ldd : i*ldd+m]
		for j, v := range row {
			row[j] = powi(v+T(k.Offset), k.Degree)
		}
	}
}

// powi is v^n for n ≥ 1 by repeated squaring: math.Pow is ten times as dear.
func powi[T float32 | float64](v T, n int) T {
	r := T(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r *= v
		}
		v *= v
	}
	return r
}
