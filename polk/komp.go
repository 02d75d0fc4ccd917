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

	// singular is the pivot below which a factorization of K is given up.
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
	s, sl, sg []float64 // m×m: Schur complement S, its factor, S⁻¹
	u         []float64 // m×M: S⁻¹·Tᵀ
	w         []float64 // (M+m)×C current weights
	q         []float64 // diagonal of the current inverse
	alive     []bool
	v         []float64 // rows of length M+m: scaled columns of the removed elements
	qmin      []float64 // 1/κ(x, x), below which no diagonal element can fall
	values    []float64 // (M+m)×C: f̃ at all elements, for the refit
	res, wt   []float64 // M×C residual of the refit; C×M scratch
	col       []float64
	left      []float64 // M×r: the two factors of the update of P
	right     []float64
	a, h      []float64
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
	copy(b.kx[b.m*m:(b.m+1)*m], k.g.rowK(k.probe))
	res := k.multiply(b)
	if !(res <= max(repairAbove, repairGrowth*k.fresh)) {
		k.repair(b)
		if m = k.g.m; m == 0 {
			return
		}
		k.probe %= m
		copy(b.kx[b.m*m:(b.m+1)*m], k.g.rowK(k.probe))
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
	gemm.MulABT(b.m+1, m, m, 1, b.kx, m, k.g.p, k.g.ld, 0, k.t, m, k.threads)
	var res float64
	for j, v := range k.t[b.m*m : (b.m+1)*m] {
		if j == k.probe {
			v--
		}
		if v = math.Abs(v); !(v <= res) {
			res = v
		}
	}
	return res
}

// refine improves T by one step of iterative refinement, T += P·(K_DX − K·T):
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
// folded into the others first, at a cost below singular·‖w‖².
func (k *komp) repair(b *batch) {
	k.health.Repairs++
	for tol := singular; !k.g.invert(singular); tol *= 10 {
		k.drop(b, k.g.dependent(tol))
	}
}

// drop removes the dictionary elements js, whose κ(d, ·) lie in the span of
// the others', and gives their weights to the others.
func (k *komp) drop(b *batch, js []int) {
	k.health.Dropped += len(js)
	slices.Sort(js)
	slices.Reverse(js) // so that the last element, which takes the place of j, is one that stays
	type gone struct{ k, w []float64 }
	var out []gone
	for _, j := range js {
		out = append(out, gone{slices.Clone(k.g.rowK(j)), slices.Clone(k.f.Weights(j))})
		last := k.g.m - 1
		for i := range out {
			out[i].k[j] = out[i].k[last]
			out[i].k = out[i].k[:last]
		}
		b.removeColumn(j, k.g.m)
		k.g.remove(j)
		k.f.Remove(j)
	}
	if !k.g.invert(singular) {
		return // the caller tries again with a coarser tolerance; these weights are below rounding
	}
	for _, o := range out {
		for i := range k.g.m {
			c := gemm.Dot(k.g.rowP(i), o.k)
			axpy(c, o.w, k.f.Weights(i))
		}
	}
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
// span of the dictionary and the new elements before them, and gives their
// weights to those.
func (k *komp) foldDependent(b *batch) {
	n, m, c := b.m, k.g.m, k.f.Outputs
	k.sl, k.col = grow(k.sl, n*n), grow(k.col, n)
	k.kept = k.kept[:0]
	for i := range n {
		r := len(k.kept)
		l := k.sl[r*n : r*n+r]
		for q, j := range k.kept {
			l[q] = k.s[i*n+j]
		}
		forward(k.sl, n, l)
		pivot, self := k.s[i*n+i]-sumSquares(l), b.kxx[i*n+i]
		if pivot > dependence*self {
			k.delicate = k.delicate || pivot < delicatePivot*self
			k.sl[r*n+r] = math.Sqrt(pivot)
			k.kept = append(k.kept, i)
			continue
		}
		backward(k.sl, n, l)
		k.fold(b, i, l)
		k.health.Folded++
		k.err2 += max(pivot, 0) * sumSquares(b.w[i*c:(i+1)*c])
		k.removed = append(k.removed, m+b.orig[i])
	}
	if len(k.kept) < n {
		k.compress(b)
	}
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

// prepare sets up the weights and the diagonal of the inverse Gram matrix of
// all M+m elements, [P + T·S⁻¹·Tᵀ, −T·S⁻¹; −S⁻¹·Tᵀ, S⁻¹].
func (k *komp) prepare(b *batch) {
	n, m, c := b.m, k.g.m, k.f.Outputs
	k.w = grow(k.w, (m+n)*c)
	copy(k.w, k.f.W)
	copy(k.w[m*c:], b.w[:n*c])
	if k.delicate {
		k.evaluate(b)
	}
	k.alive = grow(k.alive, m+n)
	for i := range k.alive {
		k.alive[i] = true
	}
	k.sl = append(k.sl[:0], k.s[:n*n]...)
	cholesky(k.sl, n)
	k.sg = grow(k.sg, n*n)
	inverse(k.sg, k.sl, n, k.col)
	k.u = grow(k.u, n*m)
	clear(k.u)
	for i := range n {
		for j := range n {
			gemm.Axpy(k.sg[i*n+j], k.t[j*m:(j+1)*m], k.u[i*m:(i+1)*m])
		}
	}
	k.q, k.qmin = grow(k.q, m+n), grow(k.qmin, m+n)
	for j := range m {
		k.q[j] = k.g.p[j*k.g.ld+j]
		k.qmin[j] = 1 / k.g.k[j*k.g.ld+j]
	}
	for i := range n {
		k.q[m+i] = k.sg[i*n+i]
		k.qmin[m+i] = 1 / b.kxx[i*n+i]
		t, u := k.t[i*m:(i+1)*m], k.u[i*m:(i+1)*m]
		for j, v := range t {
			k.q[j] += v * u[j]
		}
	}
}

// remove is the loop of Algorithm 1: while the cheapest removal keeps the
// squared error r² + ‖w_j‖²/q_j within eps2, it removes that element and
// refits the weights of the others.
func (k *komp) remove(b *batch, eps2 float64) {
	total := k.g.m + b.m
	for r := range total {
		j, cost := k.cheapest(total)
		if !(k.err2+cost <= eps2) {
			return
		}
		k.err2 += cost
		k.alive[j] = false
		k.downdate(k.column(b, j, r, total), j)
		if j >= k.g.m {
			j = k.g.m + b.orig[j-k.g.m]
		}
		k.removed = append(k.removed, j)
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

// column writes column j of the current inverse Gram matrix to row r of k.v.
// Looking left: the column of the inverse before any removal, less what each
// of the r removed elements took from it.
func (k *komp) column(b *batch, j, r, total int) []float64 {
	n, m := b.m, k.g.m
	k.v = slices.Grow(k.v[:min(len(k.v), r*total)], (r+1)*total)[:(r+1)*total]
	v := k.v[r*total:]
	if j < m {
		copy(v, k.g.rowP(j))
		for i := range n {
			gemm.Axpy(k.t[i*m+j], k.u[i*m:(i+1)*m], v[:m])
			v[m+i] = -k.u[i*m+j]
		}
	} else {
		for i, u := range k.u[(j-m)*m : (j-m+1)*m] {
			v[i] = -u
		}
		copy(v[m:], k.sg[(j-m)*n:(j-m+1)*n])
	}
	for i := range r {
		past := k.v[i*total : (i+1)*total]
		gemm.Axpy(-past[j], past, v)
	}
	return v
}

// downdate takes removed element j, whose column of the inverse is v, out of
// the weights and the diagonal, and scales v so that v·vᵀ is what the inverse
// loses.
func (k *komp) downdate(v []float64, j int) {
	c := k.f.Outputs
	scale := 1 / math.Sqrt(k.q[j])
	wj := k.w[j*c : (j+1)*c]
	for i, on := range k.alive {
		if !on {
			v[i] = 0
			continue
		}
		vi := v[i] * scale
		v[i] = vi
		k.q[i] = max(k.q[i]-vi*vi, k.qmin[i])
		axpy(-vi*scale, wj, k.w[i*c:(i+1)*c])
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
	k.sg = grow(k.sg, kn*kn)
	k.col = grow(k.col, kn)
	inverse(k.sg, k.sl, kn, k.col)
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
		copy(k.g.p[(m+i)*k.g.ld+m:], k.sg[i*kn:(i+1)*kn])
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
