package ivm

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"polkrepro/internal/gemm"
)

// mirror completes cross, whose block of contrasts (v, u) is that of (u, v).
func (b *block) mirror() {
	j, q, d := len(b.index), b.order(), b.dims()
	for u := range d {
		for v := u + 1; v < d; v++ {
			for t := range q {
				copy(b.cross[((v*q+t)*d+u)*j:][:j], b.cross[((u*q+t)*d+v)*j:][:j])
			}
		}
	}
}

// solve computes the Newton steps, by block elimination: with U the factor of
// the Hessian over the import points, Y = U⁻ᵀ·cross, z = U⁻ᵀ·gradient and S the
// Schur complement own + λI − YᵀY, a candidate's coefficients change by
// δ = −S⁻¹(grad − Yᵀz) and the others by −U⁻¹(z + Yδ).
func (b *block) solve() {
	j, q, d := len(b.index), b.order(), b.dims()
	y := blas64.General{Rows: d * q, Cols: d * j, Stride: d * j, Data: b.cross}
	b.basis = grow(b.basis, d*q*j)
	if q > 0 {
		blas64.Trsm(blas.Left, blas.Trans, 1, b.equation.upper, y)
	}
	b.eliminate()
	b.delta = grow(b.delta, d*j)
	for r := range j {
		b.solveOwn(r)
	}
	for t := range d * q {
		row := b.basis[t*j : (t+1)*j]
		for r := range row {
			row[r] = -b.equation.reduced[t]
			for a := range d {
				row[r] -= float64(b.cross[(t*d+a)*j+r] * b.delta[a*j+r])
			}
		}
	}
	if q > 0 {
		blas64.Trsm(blas.Left, blas.NoTrans, 1, b.equation.upper,
			blas64.General{Rows: d * q, Cols: j, Stride: j, Data: b.basis})
	}
}

// eliminate turns own into S and grad into grad − Yᵀz.
func (b *block) eliminate() {
	j, q, d := len(b.index), b.order(), b.dims()
	for t := range d * q {
		pair := 0
		for u := range d {
			yu := b.cross[(t*d+u)*j:][:j]
			gemm.Axpy(-b.equation.reduced[t], yu, b.grad[u*j:(u+1)*j])
			for v := u; v < d; v++ {
				s := b.own[pair*j : (pair+1)*j]
				for r, w := range b.cross[(t*d+v)*j:][:j] {
					s[r] -= float64(yu[r] * w)
				}
				pair++
			}
		}
	}
}

// solveOwn computes δ of candidate r. One whose S is not positive definite in
// floating point counts as dependent: only a point of the span comes near that.
func (b *block) solveOwn(r int) {
	j, d := len(b.index), b.dims()
	s := mat.NewSymDense(d, nil)
	rhs := mat.NewVecDense(d, nil)
	for pair := range d * (d + 1) / 2 {
		u, v := pairAt(d, pair)
		s.SetSym(u, v, b.own[pair*j+r])
	}
	for u := range d {
		s.SetSym(u, u, s.At(u, u)+b.Regularizer)
		rhs.SetVec(u, -b.grad[u*j+r])
	}
	var c mat.Cholesky
	if !c.Factorize(s) || c.SolveVecTo(rhs, rhs) != nil {
		b.norms[r] = 0
		rhs.Zero()
	}
	for u := range d {
		b.delta[u*j+r] = rhs.AtVec(u)
	}
}

// objectives returns H(f + d) for each candidate.
func (b *block) objectives() []float64 {
	j, q, classes := len(b.index), b.order(), b.Classes
	changes := make([]float64, j*classes*(q+1)) // of the scores, by basis vector
	b.byClass(changes)
	sums := make([]float64, j)
	b.tile = grow(b.tile, j*classes*chunk)
	for lo := 0; lo < b.n; lo += chunk {
		n := min(chunk, b.n-lo)
		gemm.MulABT(j*classes, n, q, 1, changes, q+1, b.columnsOf(&b.work, lo, lo+n), q, 0, b.tile, chunk, 1)
		for r := range j {
			f := b.tile[r*classes*chunk : (r+1)*classes*chunk]
			for c := range classes {
				row := f[c*chunk : c*chunk+n]
				gemm.Axpy(1, b.f[c*b.n+lo:c*b.n+lo+n], row)
				gemm.Axpy(changes[(r*classes+c)*(q+1)+q], b.rows[r*b.n+lo:r*b.n+lo+n], row)
			}
			sums[r] += b.work.softmax.loss(f, b.y[lo:lo+n])
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

// byClass writes the steps as changes of the C functions: one row of q+1
// coefficients for each candidate and class.
func (b *block) byClass(changes []float64) {
	q, d := b.order(), b.dims()
	for r := range b.index {
		gemm.MulABT(b.Classes, q+1, d, 1, b.contrasts, d, b.direction(r), d, 0,
			changes[r*b.Classes*(q+1):], q+1, 1)
	}
}

// direction returns the step of candidate r, (q+1)×D.
func (b *block) direction(r int) []float64 {
	j, q, d := len(b.index), b.order(), b.dims()
	dir := make([]float64, (q+1)*d)
	for a := range d {
		for t := range q {
			dir[t*d+a] = b.basis[(a*q+t)*j+r]
		}
		dir[q*d+a] = b.delta[a*j+r]
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

// best returns the candidate of the least objective, the first of several.
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
