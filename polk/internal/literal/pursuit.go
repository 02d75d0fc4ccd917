// Package literal implements POLK and its pruning as they are defined, for tests: the paper's
// two algorithms in its symbols, and a state for any pruner that computes each quantity by its
// definition. All oracles and benchmarks of packages polk and prune compare the fast
// implementations with it.
package literal

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"polkrepro/internal/testutil"
	"polkrepro/kernel"
	"polkrepro/loss"
)

// A Pursuit is the input of Algorithm 1: f̃ = Σ_k w̃_k κ(d̃_k, ·). A number at the end of a line
// of code is that of the printed statement. Algorithm1 solves a least-squares problem from
// scratch for each candidate of each removal, O(M⁵) in all.
type Pursuit struct {
	K      *mat.Dense // K_D̃D̃, M̃×M̃
	WTilde *mat.Dense // w̃, M̃×C: C functions on one dictionary, ‖·‖² is summed over them

	// Exact asks for all digits of γ and w, which an oracle needs where elements nearly depend
	// on each other. A benchmark does not set it, to time what the paper prints: one
	// factorization per candidate.
	Exact bool
}

// NewPursuit returns the Pursuit of f̃, with K in float64.
func NewPursuit(fTilde *kernel.Expansion, exact bool) *Pursuit {
	M, p := fTilde.Order(), fTilde.Dict.Dim()
	K, d := mat.NewDense(max(M, 1), max(M, 1), nil), make([]float64, p)
	for i := range M {
		kernel.Widen(d, fTilde.Dict.At(i))
		fTilde.Dict.Block64(fTilde.Kernel, kernel.MatrixOf(1, p, d), kernel.MatrixOf(1, M, K.RawRowView(i)), 1)
		K.Set(i, i, fTilde.Kernel.Self(fTilde.Dict.At(i)))
	}
	return &Pursuit{K, mat.NewDense(max(M, 1), fTilde.Outputs, slices.Clone(fTilde.W)), exact}
}

// Algorithm1 is destructive KOMP with pre-fitting. It returns the indices that stay, the weights
// (M̃×C, zero for the removed elements), the removed indices in order, and the γ_j of each
// iteration of the loop. The paper's D and M follow from I.
func (p *Pursuit) Algorithm1(ε float64) (I []int, w *mat.Dense, removed []int, seen [][]float64) {
	w = p.WTilde // 1
	for k := range p.WTilde.RawMatrix().Rows {
		I = append(I, k)
	}
	for len(I) > 0 { // 2
		var γ []float64
		for _, j := range I { // 3
			γj, _ := p.Approximate(Without(I, j)) // 4
			γ = append(γ, γj)
		} // 5
		seen = append(seen, γ)
		at := floats.MinIdx(γ) // 6
		if γ[at] > ε {         // 7
			break // 8
		}
		removed = append(removed, I[at])
		I = Without(I, I[at])   // 9, 10, 11
		_, w = p.Approximate(I) // 12
	} // 13, 14
	return I, w, removed, seen // 15
}

// Without returns I without j.
func Without(I []int, j int) []int {
	return slices.DeleteFunc(slices.Clone(I), func(k int) bool { return k == j })
}

// Approximate returns γ = min_w ‖f̃ − Σ_{k∈I} w_k κ(d_k, ·)‖ and the weights of the
// minimum, M̃×C with zeros off I.
//
// At the minimum, f̃ − f is orthogonal to every κ(d_i, ·), i ∈ I. With d = w̃ − w, the
// coefficients of f̃ − f over D̃, these are the normal equations (K·d)_I = 0. They are solved
// for d_I and not for w, because d_I is as small as the error: γ² = dᵀ·K·d is then the error
// itself, not a difference of two large norms.
func (p *Pursuit) Approximate(I []int) (γ float64, w *mat.Dense) {
	_, C := p.WTilde.Dims()
	d := mat.DenseCopyOf(p.WTilde.T()) // C×M̃
	for _, i := range I {
		for c := range C {
			d.Set(c, i, 0)
		}
	}
	if len(I) > 0 {
		p.solve(I, d)
	}
	w = mat.DenseCopyOf(p.WTilde)
	w.Sub(w, d.T())
	return p.Norm(d), w
}

// Norm returns ‖Σ_k d_k κ(d̃_k, ·)‖ for the coefficients d, C×M̃.
func (p *Pursuit) Norm(d *mat.Dense) float64 {
	C, M := d.Dims()
	var norm2 float64
	Kd := make([]float64, M)
	for c := range C {
		for i := range Kd {
			Kd[i] = p.Dot(p.K.RawRowView(i), d.RawRowView(c))
		}
		norm2 += p.Dot(Kd, d.RawRowView(c))
	}
	return math.Sqrt(max(norm2, 0))
}

// solve solves (K·d)_I = 0 for d_I by a Cholesky factorization of K_II and, if exact,
// iterative refinement with inner products in twice the precision, which gives all
// digits up to a condition of about 1e15.
func (p *Pursuit) solve(I []int, d *mat.Dense) {
	C, _ := d.Dims()
	chol, _ := p.factorize(I)
	times := 1
	if p.Exact {
		times = 6
	}
	for range times {
		inner := mat.NewDense(len(I), C, nil) // ⟨f̃ − f, κ(d_i, ·)⟩
		for a, i := range I {
			for c := range C {
				inner.Set(a, c, p.Dot(p.K.RawRowView(i), d.RawRowView(c)))
			}
		}
		var step mat.Dense
		chol.SolveTo(&step, inner) // its only error reports a large condition number
		for a, i := range I {
			for c := range C {
				d.Set(c, i, d.At(c, i)-step.At(a, c))
			}
		}
	}
}

// factorize returns the Cholesky factorization of K_II, and whether it exists: K_II is
// numerically positive definite.
func (p *Pursuit) factorize(I []int) (chol mat.Cholesky, ok bool) {
	kII := mat.NewSymDense(len(I), nil)
	for a, i := range I {
		for b := a; b < len(I); b++ {
			kII.SetSym(a, b, p.K.At(i, I[b]))
		}
	}
	ok = chol.Factorize(kII)
	return chol, ok
}

// Dot returns x·y. If p.Exact is set, it has the rounding error of a single addition (Dot2 of
// Ogita, Rump and Oishi 2005). The conversions keep a compiler from fusing.
func (p *Pursuit) Dot(x, y []float64) float64 {
	if !p.Exact {
		return floats.Dot(x, y)
	}
	var sum, lost float64
	for i, v := range x {
		product := float64(v * y[i])
		lost += math.FMA(v, y[i], -product)
		next := sum + product
		added := next - sum
		lost += (sum - (next - added)) + (product - added)
		sum = next
	}
	return sum + lost
}

// Algorithm2 performs lines 3 to 5 of Algorithm 2 on a mini-batch of n samples. For f = f_t it
// returns f̃_{t+1}, whose dictionary is [D_t, x_1, …, x_n]. The gradient of a mini-batch is the
// mean over its samples; the paper has n = 1. Line 6 is Algorithm1.
func Algorithm2(f *kernel.Expansion, ℓ loss.Loss, η, λ float64, n int, x []float32, y []float64) *kernel.Expansion {
	fTilde := f.Clone()
	for i := range fTilde.W {
		fTilde.W[i] *= 1 - η*λ
	}
	p, w := f.Dict.Dim(), make([]float64, f.Outputs)
	for i := range n {
		xi := x[i*p : (i+1)*p]
		ℓ.Gradient(w, testutil.Score(f, xi), y[i])
		floats.Scale(-η/float64(n), w)
		fTilde.Append(xi, w)
	}
	return fTilde
}
