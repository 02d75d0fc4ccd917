package ivm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCurvature: products in both precisions equal the sums that define them, with more samples
// than are summed at a time, more basis vectors than a block holds and more pairs than a group
// holds.
func TestCurvature(t *testing.T) {
	p := blobs(1, 2*flushed+termSize/2, 2, 6)
	p.Threads = 2
	s := newState(p.Config, p.n, p.x, p.y)
	checkCurvature(t, s, &products[float32]{state: s, work: make([]workspace[float32], 2)}, 1e-6)
	s = newState(p.Config, p.n, p.x, p.y)
	checkCurvature(t, s, &products[float64]{state: s, work: make([]workspace[float64], 2)}, 1e-14)
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
	rows, cross := random(j*s.n), make([]float64, j*d*d*q)
	c.cross(1, j, rows, cross)
	h := slices.Clone(c.hessian())
	for pair := range d * (d + 1) / 2 {
		a, b := pairAt(d, pair)
		weight := s.weight[pair*s.n : (pair+1)*s.n]
		sum := func(x, y []float64) float64 {
			var sum float64
			for i, w := range weight {
				sum += w * x[i] * y[i]
			}
			return sum
		}
		for u := range q {
			phi := s.phi[u*s.n : (u+1)*s.n]
			for v := range q {
				want := sum(phi, s.phi[v*s.n:(v+1)*s.n])
				if a == b && u == v {
					want += s.Regularizer
				}
				if a != b || v <= u {
					near("hessian", h[(b*q+u)*d*q+a*q+v], want)
				}
			}
			for l := range j {
				want := sum(phi, rows[l*s.n:(l+1)*s.n])
				near("cross", cross[((l*d+a)*d+b)*q+u], want)
				near("cross", cross[((l*d+b)*d+a)*q+u], want)
			}
		}
	}
	coef, change := random(j*(q+1)), make([]float64, j*chunk)
	c.change(1, j, coef, lo, hi, change)
	for l := range j {
		for i := lo; i < hi; i++ {
			var want float64
			for u := range q {
				want += coef[l*(q+1)+u] * s.phi[u*s.n+i]
			}
			if got := change[l*chunk+i-lo]; !(math.Abs(got-want) <= 30*tolerance) {
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
	tr.curvature = &products[float64]{state: tr.state, work: make([]workspace[float64], 1)}
	if _, err := tr.imports(t.Context()); err != nil || !slices.Equal(tr.index, want.Imported) {
		t.Errorf("imported %v, in double precision %v, %v", want.Imported, tr.index, err)
	}
}
