package ivm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"polkrepro/internal/gemm"
)

// TestCurvature: products in both precisions equal the sums that define them, with more samples
// than are summed at a time, more basis vectors than a block holds and more pairs than a group
// holds.
func TestCurvature(t *testing.T) {
	p := blobs(1, 2*flushed+termSize/2, 2, 6)
	p.Threads = 2
	s := newState(p.Config, p.n, p.x, p.y)
	checkCurvature(t, s, newProducts[float32](s), 1e-6)
	s = newState(p.Config, p.n, p.x, p.y)
	checkCurvature(t, s, newProducts[float64](s), 1e-14)
}

func checkCurvature(t *testing.T, s *state, c curvature, tolerance float64) {
	t.Helper()
	const q, j, lo, hi = hessianRows + 7, 3, 100, 300
	r := rand.New(rand.NewPCG(1, 1))
	random := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		return v
	}
	s.curvature = c
	for l := range q {
		s.add(l, 1, random(s.n))
	}
	near := func(what string, got, want float64) {
		t.Helper()
		// Weights are below 1/N, and terms are of order 1.
		if !(math.Abs(got-want) <= tolerance) {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
	d := s.dims()
	rows, cross := gemm.MatrixOf(j, s.n, random(j*s.n)), gemm.NewMatrix[float64](j*d, d*q)
	c.cross(1, rows, cross)
	h := c.hessian().Clone()
	for pair := range d * (d + 1) / 2 {
		a, b := pairAt(d, pair)
		weight := s.weight.Row(pair)
		sum := func(x, y []float64) float64 {
			var sum float64
			for i, w := range weight {
				sum += w * x[i] * y[i]
			}
			return sum
		}
		for u := range q {
			phi := s.phi.Row(u)
			for v := range q {
				want := sum(phi, s.phi.Row(v))
				if a == b && u == v {
					want += s.Regularizer
				}
				if a != b || v <= u {
					near("hessian", h.At(b*q+u, a*q+v), want)
				}
			}
			for l := range j {
				want := sum(phi, rows.Row(l))
				near("cross", cross.At(l*d+a, b*q+u), want)
				near("cross", cross.At(l*d+b, a*q+u), want)
			}
		}
	}
	coef, change := gemm.MatrixOf(j, q, random(j*q)), gemm.NewMatrix[float64](j, hi-lo)
	c.change(1, coef, lo, hi, change)
	for l := range j {
		for i := lo; i < hi; i++ {
			var want float64
			for u := range q {
				want += coef.At(l, u) * s.phi.At(u, i)
			}
			if got := change.At(l, i-lo); !(math.Abs(got-want) <= 30*tolerance) {
				t.Fatalf("change: %v, want %v", got, want)
			}
		}
	}
}

// TestPrecision: single precision is used if the regularizer is far above its rounding error, and
// it imports the same points as double precision.
func TestPrecision(t *testing.T) {
	p := blobs(2, 500, 2, 4)
	p.MaxPoints, p.Tolerance, p.Regularizer = 20, 1e-9, 1e-6
	s := newState(p.Config.withDefaults(), p.n, p.x, p.y)
	if _, single := s.curvature.(*products[float32]); !single {
		t.Errorf("λ = %v: %T", p.Regularizer, s.curvature)
	}
	want := p.train(t)
	p.Regularizer = 0x1p-21
	s = newState(p.Config.withDefaults(), p.n, p.x, p.y)
	if _, double := s.curvature.(*products[float64]); !double {
		t.Errorf("λ = %v: %T", p.Regularizer, s.curvature)
	}
	p.Regularizer = 1e-6
	tr := newTrainer(p.Config, p.n, p.x, p.y)
	tr.curvature = newProducts[float64](tr.state)
	if _, err := tr.imports(t.Context()); err != nil || !slices.Equal(tr.index, want.Imported) {
		t.Errorf("imported %v, in double precision %v, %v", want.Imported, tr.index, err)
	}
}
