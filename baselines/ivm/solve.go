package ivm

import (
	"math"
	"slices"

	"polkrepro/internal/factor"
	"polkrepro/internal/gemm"
)

// solve computes the Newton steps by block elimination. Let L be the factor of the Hessian over
// the import points, Y = cross·L⁻ᵀ the rows of a candidate, z = L⁻¹·gradient and S the Schur
// complement H + λI − YYᵀ for the Hessian H of the candidate alone. Its coefficients change by
// δ = −S⁻¹(grad − Yz), the others by −L⁻ᵀ(z + Yᵀδ).
func (b *block) solve() {
	j, size, d := len(b.index), b.dims()*b.order(), b.dims()
	factor.SolveLower(b.equation.lower, b.cross, 1)
	b.basis = b.basis.Fresh(j, size)
	b.delta = b.delta.Fresh(j, d)
	for r := range j {
		y := b.cross.Rows(r*d, (r+1)*d)
		b.solveAlone(r, y)
		row := b.basis.Row(r)
		for t, z := range b.equation.reduced {
			row[t] = -z
		}
		for a, delta := range b.delta.Row(r) {
			gemm.Axpy(-delta, y.Row(a), row)
		}
	}
	factor.SolveLowerT(b.equation.lower, b.basis, 1)
}

// solveAlone computes δ of candidate r, whose rows Y are y. A candidate whose S is not positive
// definite in floating point counts as dependent: only points in the span come near that.
func (b *block) solveAlone(r int, y matrix) {
	d := b.dims()
	schur, delta := gemm.NewMatrix[float64](d, d), b.delta.Row(r)
	for pair := range d * (d + 1) / 2 {
		u, v := pairAt(d, pair)
		schur.Set(v, u, b.alone.At(pair, r))
	}
	for u := range d {
		schur.Row(u)[u] += b.Regularizer
		delta[u] = gemm.Dot(y.Row(u), b.equation.reduced) - b.grad.At(u, r)
	}
	gemm.MulABT(-1, y, y, 1, schur, 1)
	if !factor.Cholesky(schur, 1) {
		b.norms[r] = 0
		clear(delta)
		return
	}
	factor.SolveLower(schur, gemm.RowOf(delta), 1)
	factor.SolveLowerT(schur, gemm.RowOf(delta), 1)
}

// objectives returns H(f + d) for each candidate.
func (b *block) objectives() []float64 {
	j, q, classes := len(b.index), b.order(), b.Classes
	// The steps as changes of the C functions: q+1 coefficients for each candidate and class.
	changes := gemm.NewMatrix[float64](j*classes, q+1)
	for r := range j {
		gemm.MulABT(1, b.contrasts, b.direction(r), 0, changes.Rows(r*classes, (r+1)*classes), 1)
	}
	sums := make([]float64, j)
	for lo := 0; lo < b.n; lo += chunk {
		hi := min(lo+chunk, b.n)
		b.tile = b.tile.Fresh(j*classes, hi-lo)
		b.curvature.change(b.worker, changes.Cols(0, q), lo, hi, b.tile)
		for r := range j {
			f := b.tile.Rows(r*classes, (r+1)*classes)
			for c := range classes {
				row := f.Row(c)
				gemm.Axpy(1, b.f.Row(c)[lo:hi], row)
				gemm.Axpy(changes.At(r*classes+c, q), b.rows.Row(r)[lo:hi], row)
			}
			sums[r] += b.softmax.loss(f, b.y[lo:hi])
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
func (b *block) direction(r int) matrix {
	q, d := b.order(), b.dims()
	dir := gemm.NewMatrix[float64](q+1, d)
	byContrast := gemm.MatrixOf(d, q, b.basis.Row(r))
	gemm.Transpose(byContrast, dir.Rows(0, q))
	copy(dir.Row(q), b.delta.Row(r))
	return dir
}

// normSq returns Σ_c ‖f_c + d_c‖² for candidate r.
func (b *block) normSq(r int) float64 {
	var sum float64
	beta := b.beta.Data()
	for i, v := range b.direction(r).Data() {
		if i < len(beta) {
			v += beta[i]
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
		t.row = slices.Clone(b.rows.Row(least))
		t.dir = b.direction(least)
	}
	return t
}
