package kernel

import "fmt"

// A Spec names a kernel of this package and has its parameters, as specs of
// experiments, settings and saved models do.
type Spec struct {
	Type      string  `json:"type"`                // what Name returns
	Bandwidth float64 `json:"bandwidth,omitempty"` // of Gaussian
	Offset    float64 `json:"offset,omitempty"`    // of Polynomial
	Degree    int     `json:"degree,omitempty"`    // of Polynomial
}

// Kernel returns the kernel, whose parameters may be invalid. It fails if this
// package has none of that name.
func (s Spec) Kernel() (Kernel, error) {
	switch s.Type {
	case Gaussian{}.Name():
		return Gaussian{Bandwidth: s.Bandwidth}, nil
	case Polynomial{}.Name():
		return Polynomial{Offset: s.Offset, Degree: s.Degree}, nil
	}
	return nil, fmt.Errorf("kernel: unknown kernel %q (have %s, %s)", s.Type, Gaussian{}.Name(), Polynomial{}.Name())
}

// specOf is the inverse of Spec.Kernel; false for a kernel of another package.
func specOf(k Kernel) (Spec, bool) {
	switch k := k.(type) {
	case Gaussian:
		return Spec{Type: k.Name(), Bandwidth: k.Bandwidth}, true
	case Polynomial:
		return Spec{Type: k.Name(), Offset: k.Offset, Degree: k.Degree}, true
	}
	return Spec{}, false
}
