package ivm

import (
	"math"

	"polkrepro/internal/factor"
	"polkrepro/internal/gemm"
)

// solve computes the Newton steps by block elimination. Let L be the factor of the Hessian over
// the import points, Y = cross·L⁻ᵀ the rows of a candidate, z = L⁻¹·gradient and S the Schur
// complement own + λI − YYᵀ. The candidate's coefficients change by δ = −S⁻¹(grad − Yz), the
// others by −L⁻ᵀ(z + Yᵀδ).
func (b *block) solve() {
	j, size, d := len(b.index), b.dims()*b.order(), b.dims()
	factor.SolveLower(j*d, size, b.equation.lower, size, b.cross, size, 1)
	b.basis = grow(b.basis, j*size)
	b.delta = grow(b.delta, j*d)
	for r := range j {
		y := b.cross[r*d*size : (r+1)*d*size]
		b.solveOwn(r, y)
		row := b.basis[r*size : (r+1)*size]
		for t, z := range b.equation.reduced {
			row[t] = -z
		}
		for a, delta := range b.delta[r*d : (r+1)*d] {
			gemm.Axpy(-delta, y[a*size:(a+1)*size], row)
		}
	}
	factor.SolveLowerT(j, size, b.equation.lower, size, b.basis, size, 1)
}

// solveOwn computes δ of candidate r, whose rows Y are y. A candidate whose S is not positive
// definite in floating point counts as dependent: only points in the span come near that.
func (b *block) solveOwn(r int, y []float64) {
	j, size, d := len(b.index), b.dims()*b.order(), b.dims()
	schur, delta := make([]float64, d*d), b.delta[r*d:(r+1)*d]
	for pair := range d * (d + 1) / 2 {
		u, v := pairAt(d, pair)
		schur[v*d+u] = b.own[pair*j+r]
	}
	for u := range d {
		schur[u*d+u] += b.Regularizer
		delta[u] = gemm.Dot(y[u*size:(u+1)*size], b.equation.reduced) - b.grad[u*j+r]
	}
	gemm.MulABT(d, d, size, -1, y, size, y, size, 1, schur, d, 1)
	if !factor.Cholesky(d, schur, d, 1) {
		b.norms[r] = 0
		clear(delta)
		return
	}
	factor.SolveLower(1, d, schur, d, delta, d, 1)
	factor.SolveLowerT(1, d, schur, d, delta, d, 1)
}

// objectives returns H(f + d) for each candidate.
func (b *block) objectives() []float64 {
	j, q, d, classes := len(b.index), b.order(), b.dims(), b.Classes
	// The steps as changes of the C functions: q+1 coefficients for each candidate and class.
	changes := make([]float64, j*classes*(q+1))
	for r := range j {
		gemm.MulABT(classes, q+1, d, 1, b.contrasts, d, b.direction(r), d, 0, changes[r*classes*(q+1):], q+1, 1)
	}
	sums := make([]float64, j)
	b.tile = grow(b.tile, j*classes*chunk)
	for lo := 0; lo < b.n; lo += chunk {
		n := min(chunk, b.n-lo)
		b.curvature.change(b.worker, j*classes, changes, lo, lo+n, b.tile)
		for r := range j {
			f := b.tile[r*classes*chunk : (r+1)*classes*chunk]
			for c := range classes {
				row := f[c*chunk : c*chunk+n]
				gemm.Axpy(1, b.f[c*b.n+lo:c*b.n+lo+n], row)
				gemm.Axpy(changes[(r*classes+c)*(q+1)+q], b.rows[r*b.n+lo:r*b.n+lo+n], row)
			}
			sums[r] += b.softmax.loss(f, b.y[lo:lo+n])
		}
	}
	for r := range sums {
		sums[r] = sums[r]/float64(b.n) + float64(b.Regularizer/2*b.normSq(r))
		if b.norms[r] == 0 || math.IsNaN(sums[r]) {
			sums[r] = math.Inf(1)
		}
	}
	return sums
}

// direction returns the step of candidate r, (q+1)×D.
func (b *block) direction(r int) []float64 {
	q, d := b.order(), b.dims()
	dir := make([]float64, (q+1)*d)
	for a := range d {
		for t := range q {
			dir[t*d+a] = b.basis[(r*d+a)*q+t]
		}
		dir[q*d+a] = b.delta[r*d+a]
	}
	return dir
}

// normSq returns Σ_c ‖f_c + d_c‖² for candidate r.
func (b *block) normSq(r int) float64 {
	var sum float64
	for i, v := range b.direction(r) {
		if i < len(b.beta) {
			v += b.beta[i]
		}
		sum += float64(v * v)
	}
	return sum
}

// best returns the candidate with the smallest objective, the first if several tie.
func (b *block) best(objectives []float64) trial {
	t := trial{index: -1, objective: math.Inf(1)}
	least := -1
	for r, h := range objectives {
		if b.norms[r] == 0 {
			t.rejected = append(t.rejected, b.index[r])
		} else if h < t.objective {
			t.objective, least = h, r
		}
	}
	if least >= 0 {
		t.index, t.norm = b.index[least], b.norms[least]
		t.row = append([]float64(nil), b.rows[least*b.n:(least+1)*b.n]...)
		t.dir = b.direction(least)
	}
	return t
}
