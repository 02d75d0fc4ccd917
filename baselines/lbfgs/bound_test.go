package lbfgs

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/internal/testutil"
)

// TestBound: along a run, ū stays in the domain of ℓ*, and the bound never falls. The bound is at
// most D(ū) computed by definition, and equal to it for the hinge. The certificate is D(ū). With
// TestObjective and TestFenchelYoung this proves the reported gap: D(ū) ≤ min P by weak duality.
func TestBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, n, x, y := drawConfig(t, 30)
		c.Kernel, c.exactSize = drawKernel(t), rapid.SampledFrom([]int{0, 1}).Draw(t, "float64 up to")
		s := solverOf(t, c, n, x, y)
		gram := denseGram(c.Kernel, x, c.Dim)
		for range 12 {
			before := s.bound.value()
			if !s.step() {
				break
			}
			if after := s.bound.value(); !(after >= before-1e-14) {
				t.Fatalf("the bound fell from %v to %v", before, after)
			}
			if s.mu > 0 && rapid.Bool().Draw(t, "sharpen") {
				s.sharpen()
			}
			exact := dualObjective(t, s, gram, y)
			if c.exactSize > 0 {
				continue // K is in float32
			}
			if d := exact - s.bound.value(); !(d >= -1e-12*(1+math.Abs(exact))) || s.mu > 0 && d > 1e-12*(1+math.Abs(exact)) {
				t.Fatalf("bound %v, dual objective %v", s.bound.value(), exact)
			}
			if best := s.now.objective; !(exact <= best+1e-12) {
				t.Fatalf("dual objective %v above the primal %v", exact, best)
			}
		}
		r, err := s.certify(context.Background(), x)
		testutil.NoError(t, err)
		if exact := dualObjective(t, s, gram, y); !(math.Abs(r.Objective-r.Gap-exact) <= 1e-10*(1+math.Abs(exact))) && r.Gap > 0 {
			t.Fatalf("certified bound %v, dual objective %v", r.Objective-r.Gap, exact)
		}
	})
}

// dualObjective computes D(ū) term by term.
func dualObjective(t *rapid.T, s *solver, gram interface{ At(i, j int) float64 }, y []float64) float64 {
	var conjugates, square float64
	ui, uj := make([]float64, s.outputs), make([]float64, s.outputs)
	for i := range s.n {
		s.column(ui, s.bound.u, i)
		onDomain(t, ui, int(y[i]))
		conjugates += s.conjugate(ui, int(y[i]))
		for j := range s.n {
			s.column(uj, s.bound.u, j)
			square += gram.At(i, j) * dot(ui, uj)
		}
	}
	n := float64(s.n)
	return -conjugates/n - square/(2*s.lambda*n*n)
}
