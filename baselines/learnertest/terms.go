package learnertest

import (
	"math"
	"slices"
	"testing"

	"polkrepro/kernel"
)

// Terms are an expansion Σ_i w_i κ(x_i, ·) as test oracles store it, in order of entry.
type Terms []Term

// A Term has a weight for each class.
type Term struct {
	X []float32
	W []float64
}

// Score returns f(x), by the definition.
func (t Terms) Score(k kernel.Kernel, x []float32, classes int) []float64 {
	f := make([]float64, classes)
	for _, e := range t {
		v := k.Eval(e.X, x)
		for c, w := range e.W {
			f[c] += w * v
		}
	}
	return f
}

// NormSq returns Σ_c ‖f_c‖², by the definition.
func (t Terms) NormSq(k kernel.Kernel) float64 {
	var sum float64
	for _, a := range t {
		for _, b := range t {
			v := k.Eval(a.X, b.X)
			for c, w := range a.W {
				sum += w * b.W[c] * v
			}
		}
	}
	return sum
}

// Scale multiplies f by a factor.
func (t Terms) Scale(factor float64) {
	for _, e := range t {
		for c := range e.W {
			e.W[c] *= factor
		}
	}
}

// Hold fails unless an expansion has these terms, in any order, with weights within a tolerance.
// The points must be distinct.
func (t Terms) Hold(tb testing.TB, step int, e *kernel.Expansion, tolerance float64) {
	tb.Helper()
	if e.Order() != len(t) {
		tb.Fatalf("step %d: order %d, want %d", step, e.Order(), len(t))
	}
	for j := range e.Order() {
		i := slices.IndexFunc(t, func(want Term) bool { return slices.Equal(want.X, e.Dict.At(j)) })
		if i < 0 {
			tb.Fatalf("step %d: element %v is not of the model", step, e.Dict.At(j))
		}
		for c, w := range e.Weights(j) {
			if want := t[i].W[c]; !(math.Abs(w-want) <= tolerance*(1+math.Abs(want))) {
				tb.Fatalf("step %d: weights %v, want %v", step, e.Weights(j), t[i].W)
			}
		}
	}
}
