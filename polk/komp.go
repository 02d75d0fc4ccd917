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

	// delicate is the squared distance of a new element to the span of all
	// others, relative to κ(x, x), below which the weights are refitted after
	// the removals, and independent the one above which no factorization,
	// whatever its order, can meet a pivot as small as dependence.
	delicate    = 1e-5
	independent = 1e-10
)

// batch is what one functional gradient step adds to a dictionary of M
// elements: m new elements with nonzero weights.
type batch struct {
	m    int
	x    []float32 // m×dim
	w    []float64 // m×C
	kx   []float64 // m×M kernel values to the dictionary; the last row is room for the probe
	kxx  []float64 // m×m kernel values among the new elements
	orig []int     // position in the mini-batch, for the order of removals
}

// komp runs destructive KOMP with pre-fitting (Algorithm 1) on a dictionary
// whose inverse Gram matrix it keeps from step to step. Its buffers are
// reused: a step in steady state allocates nothing.
type komp struct {
	f       *kernel.Expansion
	g       gram
	threads int
	health  Health

	settled  float64 // residual right after the last factorization
	residual float64 // the last one measured
	probe    int     // dictionary element whose column of K tests P
	wait     int     // steps until the next test

	err2    float64 // r², the squared error this step has spent
	removed []int   // in the order of removal: j < M dictionary elements, M+i new ones
	refits  bool    // the weights are to be refitted after the removals
	left    int     // elements that have not been removed
	least   int     // as many are kept whatever their removal costs
	ridge   float64 // added to the diagonal of K

	t, e   []float64 // m×M: rows of T = P·K_DX, and its residual
	s      []float64 // m×m: Schur complement S of the new elements
	sl     []float64 // m×m: L, the lower factor of S
	linv   []float64 // m×m: L⁻¹
	w      []float64 // (M+m)×C: current weights
	w2     []float64 // their squared norms ‖w_j‖²
	q      []float64 // diagonal of the inverse Gram matrix of what is left
	qmin   []float64 // 1/κ(x, x), below which no element of q can fall
	alive  []bool
	fresh  newcomers
	p      []float64 // diagonal of P̂
	r      rowSet    // R̂, with P̂ + R̂ᵀR̂ the inverse Gram matrix of what is left
	v      []float64 // len(order)×M: scaled columns of P̂ of the removed dictionary elements
	order  []int     // removed dictionary elements in the order of removal
	out    []float64 // the scaled column that a removal takes
	values []float64 // (M+m)×C: f̃ at all elements, for the refit
	res    []float64 // M×C: residual of the refit
	wt     []float64 // C×M: transposed weights
	a, l   []float64 // m×m: what pivoting leaves of S, and its factor
	h, z   []float64 // update of P by the new elements that stay
	old    []int     // removed dictionary elements, ascending
	kept   []int     // new elements that stay
	rest   []int     // new elements not yet pivoted
	row    []float64
}

// project replaces f + Σ b.w κ(b.x, ·) by its sparse approximation with a
// squared error of at most eps2 in the Hilbert norm; no more elements are
// removed once there are only order left. On return k.removed lists what was
// removed.
func (k *komp) project(b *batch, order int, eps2 float64) {
	k.begin()
	k.least = order
	if b.m == 0 && (k.g.m <= order || !k.removable(eps2)) {
		return
	}
	k.enter(b)
	if !k.removeNew(b, eps2) {
		k.remove(b, eps2)
	}
	k.commit(b)
	if k.refits {
		k.refit()
	}
}

func (k *komp) begin() {
	k.err2, k.refits, k.least = 0, false, 0
	k.removed = k.removed[:0]
}

// enter computes what is to be known of the new elements before anything can
// be removed.
func (k *komp) enter(b *batch) {
	k.solve(b)
	k.schur(b)
	if !k.factor(b) {
		k.foldDependent(b)
		k.factor(b)
	}
	k.prepare(b)
}

// removable reports whether a dictionary element is cheap enough to leave when
// there are no new ones. If one is, the weights are to be refitted where the
// dictionary is ill-conditioned, which solve would find by its probe.
func (k *komp) removable(eps2 float64) bool {
	cheap := false
	for j, p := range k.g.diag[:k.g.m] {
		cheap = cheap || !(sumSquares(k.f.Weights(j)) > eps2*p)
		k.refits = k.refits || !(p*k.g.self[j] < 1/delicate)
	}
	return cheap
}

// probeShare bounds what the supervision of P costs: a product of M² is made
// once in M/probeShare steps.
const probeShare = 128

// solve computes T = P·K_DX by rows. Now and then it measures P first, and
// repairs it if the measurement says so.
func (k *komp) solve(b *batch) {
	if b.m == 0 || k.g.m == 0 {
		return
	}
	if k.wait--; k.wait < 0 {
		k.supervise(b)
		k.wait = k.g.m / probeShare
	}
	k.t = grow(k.t, b.m*k.g.m)
	k.g.mulP(b.m, b.kx, 0, k.t, k.threads)
	if k.residual > refineAbove {
		k.refine(b)
	}
}

// supervise measures P at the next dictionary element and repairs it if it is
// too far from K⁻¹.
func (k *komp) supervise(b *batch) {
	k.probe = (k.probe + 1) % k.g.m
	k.residual = k.measure()
	if !(k.residual <= max(repairAbove, repairGrowth*k.settled)) {
		k.repair(b)
		if k.g.m == 0 {
			return
		}
		k.probe %= k.g.m
		k.residual = k.measure()
		k.settled = k.residual
	}
	k.health.Residual = max(k.health.Residual, k.residual)
}

// measure returns max |P·K·e_probe − e_probe|.
func (k *komp) measure() float64 {
	k.row = grow(k.row, k.g.m)
	k.g.mulP(1, k.g.rowK(k.probe), 0, k.row, k.threads)
	k.row[k.probe]--
	var res float64
	for _, v := range k.row {
		res = max(res, math.Abs(v)) // NaN if v is
	}
	return res
}

// refine improves T by two steps of iterative refinement, T += P·(K_DX − K·T):
// an ill-conditioned K leaves P·K_DX with an error of the order of the
// condition number, the refined T with one of the order of its residual.
func (k *komp) refine(b *batch) {
	k.refits = true
	k.health.Refinements++
	for range 2 {
		k.remainder(b)
		k.g.mulP(b.m, k.e, 1, k.t, k.threads)
	}
}

// remainder sets E = K_DX − K·T.
func (k *komp) remainder(b *batch) {
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
	for i := range b.m {
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
	if k.refits {
		k.remainder(b)
		gemm.MulABT(n, n, m, -1, k.e, m, k.t, m, 1, k.s, n, k.threads)
	}
	for i := range n {
		for j := range i {
			v := (k.s[i*n+j] + k.s[j*n+i]) / 2
			k.s[i*n+j], k.s[j*n+i] = v, v
		}
	}
}
