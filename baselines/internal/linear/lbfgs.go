package linear

import "polkrepro/internal/gemm"

// memory is the number of correction pairs.
const memory = 20

// pairs are the correction pairs of L-BFGS, oldest first (J. Nocedal, "Updating
// quasi-Newton matrices with limited storage", 1980).
type pairs []pair

type pair struct {
	s, y []float64 // steps of the point and of the gradient
	rho  float64   // 1/sᵀy
}

// push adds a pair if it has positive curvature, which rounding alone can deny
// it, and forgets the oldest of too many.
func (m pairs) push(s, y []float64) pairs {
	sy := gemm.Dot(s, y)
	if !(sy > 0) {
		return m
	}
	if len(m) == memory {
		m = append(m[:0], m[1:]...)
	}
	return append(m, pair{s, y, 1 / sy})
}

// direction returns −H·gradient; without pairs, a step of norm 1 at most.
func (m pairs) direction(gradient []float64) []float64 {
	d := make([]float64, len(gradient))
	gemm.Axpy(-1, gradient, d)
	if len(m) == 0 {
		scale(1/max(1, norm(gradient)), d)
		return d
	}
	// Nocedal's two loops, from the newest pair to the oldest and back. Between them
	// H₀ = sᵀy/yᵀy of the newest pair, the scale of the inverse Hessian.
	a := make([]float64, len(m))
	for i := len(m) - 1; i >= 0; i-- {
		a[i] = m[i].rho * gemm.Dot(d, m[i].s)
		gemm.Axpy(-a[i], m[i].y, d)
	}
	last := m[len(m)-1]
	scale(1/(last.rho*gemm.Dot(last.y, last.y)), d)
	for i, p := range m {
		b := float64(p.rho * gemm.Dot(d, p.y))
		gemm.Axpy(a[i]-b, p.s, d)
	}
	return d
}

// The constants of the weak Wolfe conditions, and the most evaluations of a
// line search.
const (
	armijo    = 1e-4
	curvature = 0.9
	searches  = 30
)

// search returns a point w + t·d that satisfies the weak Wolfe conditions, and
// the gradient there, by doubling and bisection of t from 1 on (A. Lewis,
// M. Overton, "Nonsmooth optimization via quasi-Newton methods", 2013). It
// reports false where floating point shows no such t.
func (q *problem) search(w, g, d []float64) (to, gradient []float64, ok bool) {
	value, slope := q.value(w), gemm.Dot(g, d)
	to, gradient = make([]float64, len(w)), make([]float64, len(w))
	// Invariant: low satisfies the first condition, but its slope is too steep still;
	// at high the first condition fails; high = 0 stands for none yet.
	low, high, t := 0.0, 0.0, 1.0
	for range searches {
		copy(to, w)
		gemm.Axpy(t, d, to)
		if !(q.value(to) <= value+float64(armijo*t*slope)) {
			high = t
		} else if q.gradientAt(gradient, to); gemm.Dot(gradient, d) < curvature*slope {
			low = t
		} else {
			return to, gradient, true
		}
		t = 2 * low
		if high > 0 {
			t = (low + high) / 2
		}
	}
	return nil, nil, false
}

func scale(a float64, v []float64) {
	for i := range v {
		v[i] *= a
	}
}
