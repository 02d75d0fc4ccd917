package polk

import (
	"math"
	"slices"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
)

const (
	// dependence is the squared distance to the span of the other elements,
	// relative to κ(x, x), below which a new element counts as a linear
	// combination of them: float64 rounding of a Gram matrix is 1e-16 times
	// its condition, so nothing smaller can be told from zero. Algorithm 1
	// would remove such an element at a cost below ‖w‖²·1e-12.
	dependence = 1e-12

	// singular is the pivot, relative to κ(x, x), below which a factorization
	// of K is given up.
	singular = 1e-13

	// refineAbove and repairAbove are the residuals |P·K·e_i − e_i| above
	// which solutions with P are refined, and P is computed afresh.
	refineAbove = 1e-11
	repairAbove = 1e-7

	// repairGrowth keeps an ill-conditioned K, whose fresh inverse already
	// has a large residual, from being factorized at every step.
	repairGrowth = 16

	// delicatePivot is the Schur complement of a new element below which the
	// weights are refitted after the removals.
	delicatePivot = 1e-5
)

// batch is what one functional gradient step adds to a dictionary of M
// elements: m new elements with nonzero weights.
type batch struct {
	m    int
	x    []float32 // m×dim
	w    []float64 // m×C
	kx   []float64 // (m+1)×M kernel values to the dictionary; the last row is room for the probe
	kxx  []float64 // m×m kernel values among the new elements
	orig []int     // position in the mini-batch, for the order of removals
}

// komp runs destructive KOMP with pre-fitting (Algorithm 1) on a dictionary
// whose inverse Gram matrix it keeps from step to step. Its buffers are
// reused.
type komp struct {
	f       *kernel.Expansion
	g       gram
	threads int
	health  Health

	fresh float64 // residual right after the last factorization
	probe int     // dictionary element whose column of K tests P next

	err2     float64 // r², the squared error this step has spent
	removed  []int   // in the order of removal: j < M dictionary elements, M+i new ones
	delicate bool

	t, e      []float64 // (m+1)×M: rows of T = P·K_DX, and its residual
	s, l, sl  []float64 // m×m: Schur complement S of the new elements, and factors
	w         []float64 // (M+m)×C: current weights
	p, q      []float64 // diagonals of P̂ and of the inverse P̂ + R̂ᵀR̂
	qmin      []float64 // 1/κ(x, x), below which no element of q can fall
	alive     []bool
	r         []float64 // rows×(M+m): R̂
	rows      int
	v         []float64 // cols×M: scaled columns of P̂ of the removed dictionary elements
	cols      int
	out, z    []float64 // the scaled column that a removal takes; scratch
	values    []float64 // (M+m)×C: f̃ at all elements, for the refit
	res, wt   []float64 // M×C residual of the refit; C×M scratch
	col       []float64
	left      []float64 // M×r: the two factors of the update of P
	right     []float64
	a, h      []float64
	corner    []float64
	old, kept []int // removed dictionary elements; new elements that stay
}

// project replaces f + Σ b.w κ(b.x, ·) by its sparse approximation within eps
// in the Hilbert norm. On return k.removed lists what was removed.
func (k *komp) project(b *batch, eps float64) {
	k.err2, k.delicate = 0, false
	k.removed = k.removed[:0]
	if k.f.Order() == 0 && b.m == 0 {
		return
	}
	k.solve(b)
	k.schur(b)
	k.foldDependent(b)
	k.prepare(b)
	k.remove(b, eps*eps)
	k.commit(b)
	if k.delicate {
		k.refit()
	}
}

// solve computes T = P·K_DX by rows, measures P on the way, and repairs it if
// the measurement says so.
func (k *komp) solve(b *batch) {
	m := k.g.m
	k.t = grow(k.t, (b.m+1)*m)
	if m == 0 {
		return
	}
	k.probe = (k.probe + 1) % m
	res := k.multiply(b)
	if !(res <= max(repairAbove, repairGrowth*k.fresh)) {
		k.repair(b)
		if k.g.m == 0 {
			return
		}
		k.probe %= k.g.m
		res = k.multiply(b)
		k.fresh = res
	}
	k.health.Residual = max(k.health.Residual, res)
	if res > refineAbove {
		k.refine(b)
	}
}

// multiply sets T = P·[K_DX, K·e_probe] and returns max |P·K·e_probe − e_probe|.
func (k *komp) multiply(b *batch) float64 {
	m := k.g.m
	copy(b.kx[b.m*m:(b.m+1)*m], k.g.rowK(k.probe))
	gemm.MulABT(b.m+1, m, m, 1, b.kx, m, k.g.p, k.g.ld, 0, k.t, m, k.threads)
	var res float64
	for j, v := range k.t[b.m*m : (b.m+1)*m] {
		if j == k.probe {
			v--
		}
		res = max(res, math.Abs(v)) // NaN if v is
	}
	return res
}

// refine improves T by two steps of iterative refinement, T += P·(K_DX − K·T):
// an ill-conditioned K leaves P·K_DX with an error of the order of the
// condition number, the refined T with one of the order of its residual.
func (k *komp) refine(b *batch) {
	m := k.g.m
	k.delicate = true
	k.health.Refinements++
	for range 2 {
		k.residual(b)
		gemm.MulABT(b.m, m, m, 1, k.e, m, k.g.p, k.g.ld, 1, k.t, m, k.threads)
	}
}

// residual sets E = K_DX − K·T.
func (k *komp) residual(b *batch) {
	m := k.g.m
	k.e = grow(k.e, b.m*m)
	copy(k.e, b.kx[:b.m*m])
	gemm.MulABT(b.m, m, m, -1, k.t, m, k.g.k, k.g.ld, 1, k.e, m, k.threads)
}

// repair computes P afresh. Elements that make K numerically singular are
// taken out first and given to the others; what that costs counts as spent.
func (k *komp) repair(b *batch) {
	k.health.Repairs++
	var out []dropped
	for tol := singular; !k.g.invert(singular); tol *= 10 {
		out = k.drop(b, k.g.dependent(tol), out)
	}
	var lost float64
	for _, o := range out {
		coeff, dist2 := k.g.coefficients(o.k, o.self)
		for i, v := range coeff {
			axpy(v, o.w, k.f.Weights(i))
		}
		lost += math.Sqrt(dist2 * sumSquares(o.w))
	}
	k.err2 += lost * lost
}

// A dropped element has weights w, kernel values k to the dictionary that is
// left, and κ(d, d) = self.
type dropped struct {
	k, w []float64
	self float64
}

// drop takes the elements js, whose κ(d, ·) lie in the span of the others',
// out of the dictionary and appends them to out.
func (k *komp) drop(b *batch, js []int, out []dropped) []dropped {
	k.health.Dropped += len(js)
	slices.Sort(js)
	for _, j := range slices.Backward(js) { // so that the last element, which takes the place of j, is one that stays
		out = append(out, dropped{slices.Clone(k.g.rowK(j)), slices.Clone(k.f.Weights(j)), k.g.rowK(j)[j]})
		last := k.g.m - 1
		for i := range out {
			out[i].k[j] = out[i].k[last]
			out[i].k = out[i].k[:last]
		}
		b.removeColumn(j, k.g.m)
		k.g.remove(j)
		k.f.Remove(j)
	}
	return out
}

// removeColumn deletes column j of the m-column matrix b.kx; the last column
// takes its place.
func (b *batch) removeColumn(j, m int) {
	if b.kx == nil {
		return
	}
	for i := range b.m + 1 {
		row := b.kx[i*m : (i+1)*m]
		row[j] = row[m-1]
		copy(b.kx[i*(m-1):], row[:m-1])
	}
}

// schur computes S = K_XX − K_XD·K⁻¹·K_DX. With a refined T the residual's
// contribution is added, so that the error of S is quadratic in that of T.
func (k *komp) schur(b *batch) {
	m, n := k.g.m, b.m
	k.s = grow(k.s, n*n)
	copy(k.s, b.kxx[:n*n])
	if m == 0 || n == 0 {
		return
	}
	gemm.MulABT(n, n, m, -1, b.kx, m, k.t, m, 1, k.s, n, k.threads)
	if k.delicate {
		k.residual(b)
		gemm.MulABT(n, n, m, -1, k.e, m, k.t, m, 1, k.s, n, k.threads)
	}
	for i := range n {
		for j := range i {
			v := (k.s[i*n+j] + k.s[j*n+i]) / 2
			k.s[i*n+j], k.s[j*n+i] = v, v
		}
	}
}

// foldDependent takes out of b the new elements that lie, to rounding, in the
// span of the dictionary and the other new elements, and gives their weights
// to those. Diagonal pivoting chooses the elements to keep: in any other order
// the coefficients of the rest could be as large as the condition of S.
func (k *komp) foldDependent(b *batch) {
	n, m, c := b.m, k.g.m, k.f.Outputs
	rest := k.pivot(b)
	if len(rest) == 0 {
		return
	}
	r := len(k.kept)
	for i, p := range k.kept {
		copy(k.sl[i*n:i*n+r], k.l[p*n:p*n+r])
	}
	var lost float64 // a sum of norms: what the elements lose need not be orthogonal
	for _, i := range rest {
		coeff := k.l[i*n : i*n+r]
		backward(k.sl, n, coeff)
		k.fold(b, i, coeff)
		k.health.Folded++
		lost += math.Sqrt(max(k.a[i*n+i], 0) * sumSquares(b.w[i*c:(i+1)*c]))
		k.removed = append(k.removed, m+b.orig[i])
	}
	k.err2 += lost * lost
	slices.Sort(k.kept)
	k.compress(b)
}

// pivot factorizes S with diagonal pivoting for as long as the pivots exceed
// dependence. k.kept lists the elements in the order of the pivots, row i of
// k.l is element i's row of the factor; the diagonal of k.a holds the squared
// distances of the elements that are returned, those that are left, to the
// span of all others.
func (k *komp) pivot(b *batch) (rest []int) {
	n := b.m
	k.a, k.l, k.sl = append(k.a[:0], k.s[:n*n]...), grow(k.l, n*n), grow(k.sl, n*n)
	k.kept = k.kept[:0]
	for i := range n {
		rest = append(rest, i)
	}
	for r := range n {
		q, left := 0, 0.0
		for p, i := range rest {
			if v := k.a[i*n+i] / b.kxx[i*n+i]; v > left {
				q, left = p, v
			}
		}
		if left <= dependence {
			break
		}
		k.delicate = k.delicate || left < delicatePivot
		i := rest[q]
		rest = slices.Delete(rest, q, q+1)
		k.kept = append(k.kept, i)
		d := math.Sqrt(k.a[i*n+i])
		k.l[i*n+r] = d
		for _, j := range rest {
			k.l[j*n+r] = k.a[j*n+i] / d
		}
		for _, j := range rest {
			for _, p := range rest {
				k.a[j*n+p] -= k.l[j*n+r] * k.l[p*n+r]
			}
		}
	}
	return rest
}

// fold gives the weights of new element i, which is Σ coeff_q κ(x_kept[q], ·)
// plus a combination of dictionary elements, to those.
func (k *komp) fold(b *batch, i int, coeff []float64) {
	m, c := k.g.m, k.f.Outputs
	wi := b.w[i*c : (i+1)*c]
	t := k.t[i*m : (i+1)*m]
	for q, j := range k.kept {
		axpy(coeff[q], wi, b.w[j*c:(j+1)*c])
		gemm.Axpy(-coeff[q], k.t[j*m:(j+1)*m], t)
	}
	for j, v := range t {
		axpy(v, wi, k.f.Weights(j))
	}
}

// compress drops from b, T and S the new elements that are not in k.kept.
func (k *komp) compress(b *batch) {
	n, m, c, dim, r := b.m, k.g.m, k.f.Outputs, k.f.Dict.Dim(), len(k.kept)
	for to, from := range k.kept {
		copy(b.x[to*dim:(to+1)*dim], b.x[from*dim:])
		copy(b.w[to*c:(to+1)*c], b.w[from*c:])
		copy(b.kx[to*m:(to+1)*m], b.kx[from*m:])
		copy(k.t[to*m:(to+1)*m], k.t[from*m:])
		b.orig[to] = b.orig[from]
		for q, j := range k.kept {
			k.s[to*r+q] = k.s[from*n+j]
			b.kxx[to*r+q] = b.kxx[from*n+j]
		}
	}
	b.m = r
}

// prepare sets up the weights of all M+m elements and their inverse Gram
// matrix in the form P̂ + R̂ᵀR̂, of which only the diagonal is formed:
// P̂ = P over the dictionary, and the m rows R̂ = L⁻¹·[−Tᵀ, I] with S = L·Lᵀ.
func (k *komp) prepare(b *batch) {
	n, m, c := b.m, k.g.m, k.f.Outputs
	total := m + n
	k.w = grow(k.w, total*c)
	copy(k.w, k.f.W)
	copy(k.w[m*c:], b.w[:n*c])
	if k.delicate {
		k.evaluate(b)
	}
	k.factorNew(n, m)
	k.p, k.q, k.qmin = grow(k.p, total), grow(k.q, total), grow(k.qmin, total)
	k.alive = grow(k.alive, total)
	for j := range total {
		k.alive[j] = true
		if j < m {
			k.p[j], k.qmin[j] = k.g.p[j*k.g.ld+j], 1/k.g.k[j*k.g.ld+j]
		} else {
			k.p[j], k.qmin[j] = 0, 1/b.kxx[(j-m)*n+j-m]
		}
		k.q[j] = k.diagonal(j, total)
	}
}

// factorNew sets R̂ for n new elements beside m old ones.
func (k *komp) factorNew(n, m int) {
	total := m + n
	k.sl = append(k.sl[:0], k.s[:n*n]...)
	cholesky(k.sl, n)
	k.rows, k.cols, k.r = n, 0, grow(k.r, n*total)
	clear(k.r)
	for i := range n {
		row := k.r[i*total : (i+1)*total]
		row[m+i] = 1
		gemm.Axpy(-1, k.t[i*m:(i+1)*m], row[:m])
		for q := range i {
			gemm.Axpy(-k.sl[i*n+q], k.r[q*total:(q+1)*total], row)
		}
		scale(1/k.sl[i*n+i], row)
	}
}

// diagonal returns element j of the diagonal of P̂ + R̂ᵀR̂.
func (k *komp) diagonal(j, total int) float64 {
	d := k.p[j]
	for i := range k.rows {
		d += k.r[i*total+j] * k.r[i*total+j]
	}
	return max(d, k.qmin[j])
}

// remove is the loop of Algorithm 1: while the cheapest removal keeps the
// squared error r² + ‖w_j‖²/q_j within eps2, it removes that element and
// refits the weights of the others.
func (k *komp) remove(b *batch, eps2 float64) {
	total := k.g.m + b.m
	for range total {
		j, cost := k.cheapest(total)
		if !(k.err2+cost <= eps2) {
			return
		}
		k.err2 += cost
		k.alive[j] = false
		if j < k.g.m {
			k.eliminateOld(j, total)
			k.removed = append(k.removed, j)
		} else {
			k.eliminateNew(j, total)
			k.removed = append(k.removed, k.g.m+b.orig[j-k.g.m])
		}
		k.downdate(j, total)
	}
}

// cheapest returns the element whose removal adds least to the squared error,
// the first of equals, and what it adds.
func (k *komp) cheapest(total int) (best int, cost float64) {
	c := k.f.Outputs
	best, cost = -1, math.Inf(1)
	for j := range total {
		if !k.alive[j] {
			continue
		}
		if v := sumSquares(k.w[j*c:(j+1)*c]) / k.q[j]; v < cost {
			best, cost = j, v
		}
	}
	return best, cost
}

// eliminateNew takes new element j out of P̂ + R̂ᵀR̂. Its column of P̂ is zero,
// so an orthogonal transformation of R̂ that leaves column j in the last row
// alone makes that row the scaled column of the inverse, and dropping the row
// removes the element. Orthogonal, because that stays accurate when the new
// elements nearly depend on each other: subtracting columns of the inverse
// would cancel numbers as large as its condition.
func (k *komp) eliminateNew(j, total int) {
	k.reflect(j, total)
	k.rows--
	k.out = append(k.out[:0], k.r[k.rows*total:(k.rows+1)*total]...)
}

// eliminateOld takes dictionary element j out of P̂ + R̂ᵀR̂: with x the scaled
// column of P̂ and y the row of R̂ that holds all of column j, a rotation of the
// two leaves column j in one of them, which goes.
func (k *komp) eliminateOld(j, total int) {
	x := k.column(j)
	for i, v := range x {
		k.p[i] -= v * v
	}
	k.out = grow(k.out, total)
	clear(k.out)
	copy(k.out, x)
	if k.rows == 0 {
		return
	}
	k.reflect(j, total)
	y := k.r[(k.rows-1)*total : k.rows*total]
	h := math.Hypot(x[j], y[j])
	cos, sin := x[j]/h, y[j]/h
	for i, v := range y {
		k.out[i], y[i] = cos*k.out[i]+sin*v, cos*v-sin*k.out[i]
	}
}

// column appends to k.v column j of P̂, scaled so that P̂ less its square is
// P̂ without j. Looking left: the column of P less what each removed element
// took from it.
func (k *komp) column(j int) []float64 {
	m := k.g.m
	k.v = slices.Grow(k.v[:k.cols*m], m)[:(k.cols+1)*m]
	v := k.v[k.cols*m:]
	copy(v, k.g.rowP(j))
	for i := range k.cols {
		past := k.v[i*m : (i+1)*m]
		gemm.Axpy(-past[j], past, v)
	}
	k.cols++
	scale(1/math.Sqrt(max(v[j], k.qmin[j])), v)
	return v
}

// reflect applies to R̂ the Householder reflection that leaves its column j in
// the last row alone.
func (k *komp) reflect(j, total int) {
	last := k.rows - 1
	k.col = grow(k.col, k.rows)
	for i := range k.col {
		k.col[i] = k.r[i*total+j]
	}
	rest := sumSquares(k.col[:last])
	if rest == 0 {
		return
	}
	norm := math.Copysign(math.Sqrt(rest+k.col[last]*k.col[last]), k.col[last])
	k.col[last] += norm
	beta := 2 / (rest + k.col[last]*k.col[last])
	k.z = grow(k.z, total)
	clear(k.z)
	for i, u := range k.col {
		if u != 0 {
			gemm.Axpy(u, k.r[i*total:(i+1)*total], k.z)
		}
	}
	for i, u := range k.col {
		if u != 0 {
			gemm.Axpy(-beta*u, k.z, k.r[i*total:(i+1)*total])
			k.r[i*total+j] = 0
		}
	}
	k.r[last*total+j] = -norm
}

// downdate takes removed element j, whose scaled column of the inverse is
// k.out, out of the weights and the diagonal. A diagonal element that loses
// nearly all of itself is summed up anew.
func (k *komp) downdate(j, total int) {
	const trusted = 1e-3
	c := k.f.Outputs
	wj := k.w[j*c : (j+1)*c]
	inv := 1 / k.out[j]
	for i, v := range k.out {
		if v == 0 || !k.alive[i] {
			continue
		}
		if q := k.q[i] - v*v; q > trusted*k.q[i] {
			k.q[i] = max(q, k.qmin[i])
		} else {
			k.q[i] = k.diagonal(i, total)
		}
		axpy(-v*inv, wj, k.w[i*c:(i+1)*c])
	}
}

// commit writes what remove decided to the dictionary, its weights, K and P.
// A step that removed just its own new elements touches the weights alone.
func (k *komp) commit(b *batch) {
	m, c := k.g.m, k.f.Outputs
	copy(k.f.W, k.w[:m*c])
	k.old, k.kept = k.old[:0], k.kept[:0]
	for j, on := range k.alive {
		switch {
		case j < m && !on:
			k.old = append(k.old, j)
		case j >= m && on:
			k.kept = append(k.kept, j-m)
		}
	}
	if len(k.old)+len(k.kept) == 0 {
		return
	}
	k.factors(b)
	k.delete(b)
	rank := len(k.old) + len(k.kept)
	gemm.MulABT(k.g.m, k.g.m, rank, 1, k.left, rank, k.right, rank, 1, k.g.p, k.g.ld, k.threads)
	k.insert(b)
}

// factors computes the update of P over the old elements, left·rightᵀ with
// left = [−Y, Z] and right = [Y, Z]: first the removed old elements R leave,
// P − P_:R·P_RR⁻¹·P_R:, then the kept new ones enter, + T'·S'⁻¹·T'ᵀ. This
// order has no cancellation when a new element replaces a near-duplicate.
func (k *komp) factors(b *batch) {
	m, ro, kn := k.g.m, len(k.old), len(k.kept)
	rank := ro + kn
	k.left, k.right = grow(k.left, m*rank), grow(k.right, m*rank)
	k.a = grow(k.a, ro*ro)
	for i, p := range k.old {
		for j, q := range k.old {
			k.a[i*ro+j] = k.g.p[p*k.g.ld+q]
		}
	}
	cholesky(k.a, ro)
	k.schurKept(b)
	for i := range m {
		row := k.right[i*rank : (i+1)*rank]
		y, z := row[:ro], row[ro:]
		for j, p := range k.old {
			y[j] = k.g.p[i*k.g.ld+p]
		}
		forward(k.a, ro, y)
		for j, p := range k.kept {
			z[j] = k.t[p*m+i] - dot(y, k.h[j*ro:(j+1)*ro])
		}
		forward(k.sl, kn, z)
		for j, v := range y {
			k.left[i*rank+j] = -v
		}
		copy(k.left[i*rank+ro:(i+1)*rank], z)
	}
}

// schurKept factorizes S' = S_kept + HᵀH, H = P_RR^{-1/2}·T_R: the Schur
// complement of the kept new elements over the old ones that stay.
func (k *komp) schurKept(b *batch) {
	n, m, ro, kn := b.m, k.g.m, len(k.old), len(k.kept)
	k.h, k.sl = grow(k.h, kn*ro), grow(k.sl, kn*kn)
	for i, p := range k.kept {
		hi := k.h[i*ro : (i+1)*ro]
		for j, q := range k.old {
			hi[j] = k.t[p*m+q]
		}
		forward(k.a, ro, hi)
		for j, q := range k.kept[:i+1] {
			k.sl[i*kn+j] = k.s[p*n+q] + dot(hi, k.h[j*ro:(j+1)*ro])
		}
	}
	cholesky(k.sl, kn)
}

// delete takes the removed old elements out of the dictionary and everything
// that is indexed by it.
func (k *komp) delete(b *batch) {
	rank, stride, c := len(k.old)+len(k.kept), k.g.m, k.f.Outputs
	for i := len(k.old) - 1; i >= 0; i-- {
		j, last := k.old[i], k.g.m-1
		copy(k.left[j*rank:(j+1)*rank], k.left[last*rank:])
		copy(k.right[j*rank:(j+1)*rank], k.right[last*rank:])
		for _, q := range k.kept {
			b.kx[q*stride+j] = b.kx[q*stride+last]
		}
		if k.delicate {
			copy(k.values[j*c:(j+1)*c], k.values[last*c:])
		}
		k.f.Remove(j)
		k.g.remove(j)
	}
}

// insert appends the kept new elements to the dictionary, K and P.
func (k *komp) insert(b *batch) {
	m, ro, kn, c, dim := k.g.m, len(k.old), len(k.kept), k.f.Outputs, k.f.Dict.Dim()
	rank, stride := ro+kn, m+ro
	k.corner, k.col = grow(k.corner, kn*kn), grow(k.col, kn)
	inverse(k.corner, k.sl, kn, k.col)
	for i, p := range k.kept {
		row := append(b.kx[p*stride:p*stride+m:p*stride+m], k.col[:i]...)
		for j, q := range k.kept[:i] {
			row[m+j] = b.kxx[p*b.m+q]
		}
		k.g.appendK(row, b.kxx[p*b.m+p])
		k.f.Append(b.x[p*dim:(p+1)*dim], k.w[(stride+p)*c:(stride+p+1)*c])
		if k.delicate {
			copy(k.values[(m+i)*c:(m+i+1)*c], k.values[(stride+p)*c:])
		}
	}
	for j := range m {
		z := k.right[j*rank+ro : (j+1)*rank]
		backward(k.sl, kn, z)
		for i, v := range z {
			k.g.p[(m+i)*k.g.ld+j], k.g.p[j*k.g.ld+m+i] = -v, -v
		}
	}
	for i := range kn {
		copy(k.g.p[(m+i)*k.g.ld+m:], k.corner[i*kn:(i+1)*kn])
	}
}

// evaluate stores the values of f̃ at all M+m elements, K_D̃D̃·w̃.
func (k *komp) evaluate(b *batch) {
	n, m, c := b.m, k.g.m, k.f.Outputs
	k.values = grow(k.values, (m+n)*c)
	clear(k.values)
	k.transpose(k.w, m)
	if m > 0 {
		gemm.MulABT(m, c, m, 1, k.g.k, k.g.ld, k.wt, m, 0, k.values, c, k.threads)
		gemm.MulABT(n, c, m, 1, b.kx, m, k.wt, m, 0, k.values[m*c:], c, k.threads)
	}
	for i := range n {
		wi := b.w[i*c : (i+1)*c]
		for j, v := range b.kx[i*m : (i+1)*m] {
			axpy(v, wi, k.values[j*c:(j+1)*c])
		}
		for j := range n {
			axpy(b.kxx[i*n+j], wi, k.values[(m+j)*c:(m+j+1)*c])
		}
	}
}

// refit improves the weights by iterative refinement of K·w = f̃(D): the
// loop's weights carry the error of P, these the error of the residual.
func (k *komp) refit() {
	m, c := k.g.m, k.f.Outputs
	if m == 0 {
		return
	}
	k.res = grow(k.res, m*c)
	for range 2 {
		copy(k.res, k.values[:m*c])
		k.transpose(k.f.W, m)
		gemm.MulABT(m, c, m, -1, k.g.k, k.g.ld, k.wt, m, 1, k.res, c, k.threads)
		k.transpose(k.res, m)
		gemm.MulABT(m, c, m, 1, k.g.p, k.g.ld, k.wt, m, 1, k.f.W, c, k.threads)
	}
}

// transpose sets k.wt to the C×m transpose of the first m rows of a.
func (k *komp) transpose(a []float64, m int) {
	c := k.f.Outputs
	k.wt = grow(k.wt, c*m)
	for j := range m {
		for q, v := range a[j*c : (j+1)*c] {
			k.wt[q*m+j] = v
		}
	}
}
