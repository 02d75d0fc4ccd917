package kernel

import (
	"fmt"
	"math"

	"polkrepro/internal/portable"
)

func init() { Register[Gaussian]() }

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
	return g.at(s)
}

// at returns κ at the squared distance s. At s = 0 it is 1, even for bandwidths so
// small that γ is infinite.
func (g Gaussian) at(s float64) float64 {
	if s == 0 {
		return 1
	}
	return portable.Exp(-g.Gamma() * s)
}

// Self returns 1.
func (Gaussian) Self([]float32) float64 { return 1 }

// Validate returns an error if the bandwidth is not positive and finite.
func (g Gaussian) Validate() error {
	if !(g.Bandwidth > 0) || math.IsInf(g.Bandwidth, 1) {
		return fmt.Errorf("kernel: bandwidth %v: must be positive and finite", g.Bandwidth)
	}
	return nil
}
