package polk

import (
	"math"
	"slices"

	"polkrepro/internal/factor"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
)

// maxRank bounds the number of vectors that are not yet added to the base of P. Adding 32 of
// them at once is bound by arithmetic, adding one or two by memory.
const maxRank = 32

const (
	// singular is the squared pivot, relative to κ(x, x), below which a factorization of K is
	// given up.
	singular = 1e-13

	// refineAbove is the residual |P·K·e_i − e_i| above which solutions with P are refined, and
	// repairAbove the residual above which P is recomputed.
	refineAbove = 1e-11
	repairAbove = 1e-7

	// repairGrowth is the factor by which the residual must exceed that of the last
	// factorization before P is recomputed. It keeps an ill-conditioned K, whose fresh inverse
	// already has a large residual, from being factorized at every step.
	repairGrowth = 16

	// probeShare bounds the cost of supervising P: one product of M² in 1 + M/probeShare steps.
	probeShare = 128
)

// inverseGram holds the Gram matrix K = K_DD of a dictionary and P = K⁻¹. Both are symmetric. P
// is kept as base + Σ_i sign_i·v_i·v_iᵀ: the few vectors v_i of a step are collected over many
// steps and then added to the base at once.
type inverseGram struct {
	order  int       // M
	stride int       // row stride of gram, base and updates
	gram   []float64 // M×M: K
	base   []float64 // M×M
	self   []float64 // diagonal of K
	diag   []float64 // diagonal of P

	rank    int // number of vectors v_i
	signs   [maxRank]float64
	updates []float64 // rank×M: the vectors v_i
	scratch []float64
}

func (g *inverseGram) gramRow(i int) []float64   { return g.gram[i*g.stride : i*g.stride+g.order] }
func (g *inverseGram) baseRow(i int) []float64   { return g.base[i*g.stride : i*g.stride+g.order] }
func (g *inverseGram) updateRow(i int) []float64 { return g.updates[i*g.stride : i*g.stride+g.order] }

// column writes column j of P to dst, M long.
func (g *inverseGram) column(dst []float64, j int) {
	copy(dst, g.baseRow(j))
	for i := range g.rank {
		gemm.Axpy(g.signs[i]*g.updates[i*g.stride+j], g.updateRow(i), dst)
	}
}

// mul sets dst = beta·dst + a·P for a and dst of n×M.
func (g *inverseGram) mul(n int, a []float64, beta float64, dst []float64, threads int) {
	m, r := g.order, g.rank
	// P = base + V·diag(signs)·Vᵀ: the base is read once for all n rows, and each of the two
	// products with the r vectors costs r/m of that.
	gemm.MulABT(n, m, m, 1, a, m, g.base, g.stride, beta, dst, m, threads)
	if r == 0 {
		return
	}
	g.scratch = grow(g.scratch, n*r)
	gemm.MulABT(n, r, m, 1, a, m, g.updates, g.stride, 0, g.scratch, r, threads)
	for i, v := range g.scratch {
		g.scratch[i] = v * g.signs[i%r]
	}
	gemm.MulAB(n, m, r, 1, g.scratch, r, g.updates, g.stride, 1, dst, m, threads)
}

// add adds sign·v·vᵀ to P.
func (g *inverseGram) add(sign float64, v []float64, threads int) {
	if g.rank == maxRank {
		g.flush(threads)
	}
	copy(g.updateRow(g.rank), v)
	g.signs[g.rank] = sign
	g.rank++
	for j, x := range v {
		g.diag[j] += float64(sign * x * x)
	}
}

// flush adds the vectors to the base.
func (g *inverseGram) flush(threads int) {
	m, r := g.order, g.rank
	if r > 0 {
		g.scratch = grow(g.scratch, 2*m*r)
		v, signed := g.scratch[:m*r], g.scratch[m*r:] // m×r: V and V·diag(signs)
		gemm.Transpose(r, m, g.updates, g.stride, v, r)
		for i, x := range v {
			signed[i] = g.signs[i%r] * x
		}
		gemm.MulABT(m, m, r, 1, signed, r, v, r, 1, g.base, g.stride, threads)
		g.readDiagonal()
	}
	g.rank = 0
}

func (g *inverseGram) readDiagonal() {
	for j := range g.order {
		g.diag[j] = g.base[j*g.stride+j]
	}
}

// reserve makes room for n elements.
func (g *inverseGram) reserve(n int) {
	if n > g.stride {
		g.resize((n + n/2 + 64) &^ 7)
	}
}

// resize changes the row stride to a larger one.
func (g *inverseGram) resize(stride int) {
	g.gram, g.base = restride(g.gram, g.order, g.order, g.stride, stride, stride), restride(g.base, g.order, g.order, g.stride, stride, stride)
	g.updates = restride(g.updates, g.rank, g.order, g.stride, maxRank, stride)
	g.self = append(g.self, make([]float64, stride-len(g.self))...)
	g.diag = append(g.diag, make([]float64, stride-len(g.diag))...)
	g.stride = stride
}

// set makes g a copy of h and keeps its memory.
func (g *inverseGram) set(h *inverseGram) {
	g.order, g.rank = 0, 0
	g.reserve(h.order)
	g.order, g.rank, g.signs = h.order, h.rank, h.signs
	copy(g.self, h.self[:h.order])
	copy(g.diag, h.diag[:h.order])
	for i := range h.order {
		copy(g.gramRow(i), h.gramRow(i))
		copy(g.baseRow(i), h.baseRow(i))
	}
	for i := range h.rank {
		copy(g.updateRow(i), h.updateRow(i))
	}
}

// restride copies a rows×cols matrix with row stride from into a zeroed size×to matrix.
func restride(a []float64, rows, cols, from, size, to int) []float64 {
	b := make([]float64, size*to)
	for i := range rows {
		copy(b[i*to:i*to+cols], a[i*from:i*from+cols])
	}
	return b
}

// restrideInPlace is restride in the memory of a, if it suffices.
func restrideInPlace(a []float64, rows, cols, from, size, to int) []float64 {
	a = slices.Grow(a, max(0, size*to-len(a)))[:max(len(a), size*to)]
	for i := range rows {
		if to > from { // a row moves towards the end, so the last one makes room for the others
			i = rows - 1 - i
		}
		copy(a[i*to:i*to+cols], a[i*from:i*from+cols])
		clear(a[i*to+cols : (i+1)*to])
	}
	clear(a[rows*to : size*to])
	return a[:size*to]
}

// remove deletes row and column j; the last ones take their place.
func (g *inverseGram) remove(j int) {
	last := g.order - 1
	for _, a := range [][]float64{g.gram, g.base} {
		copy(a[j*g.stride:j*g.stride+g.order], a[last*g.stride:last*g.stride+g.order])
		for i := range last {
			a[i*g.stride+j] = a[i*g.stride+last]
		}
		a[j*g.stride+j] = a[last*g.stride+last]
	}
	g.self[j], g.diag[j] = g.self[last], g.diag[last]
	for i := range g.rank {
		g.updates[i*g.stride+j] = g.updates[i*g.stride+last]
	}
	g.order = last
}

// append adds a row and column to K, and zeros to P: the new element enters P
// by add. row holds κ between the new element and the M old ones.
func (g *inverseGram) append(row []float64, self float64) {
	g.reserve(g.order + 1)
	m := g.order
	copy(g.gram[m*g.stride:], row[:m])
	clear(g.base[m*g.stride : m*g.stride+m+1])
	for i := range m {
		g.gram[i*g.stride+m] = row[i]
		g.base[i*g.stride+m] = 0
	}
	g.gram[m*g.stride+m] = self
	g.self[m], g.diag[m] = self, 0
	for i := range g.rank {
		g.updates[i*g.stride+m] = 0
	}
	g.order++
}

// invert computes P from K by a Cholesky factorization. It returns false, and leaves no usable
// P, if a squared pivot is below singular times its diagonal element: K is then numerically
// singular.
func (g *inverseGram) invert(threads int) bool {
	m := g.order
	g.rank = 0
	l, inv := restride(g.gram, m, m, g.stride, m, m), make([]float64, m*m)
	if !factor.Cholesky(m, l, m, threads) {
		return false
	}
	// A squared pivot is the squared distance of an element to the span of the elements before
	// it.
	for i := range m {
		if d := l[i*m+i]; !(d*d >= singular*g.self[i]) {
			return false
		}
	}
	// P = L⁻ᵀ·L⁻¹: the products of the columns of L⁻¹.
	factor.InvertLower(m, l, m, inv, m, threads)
	gemm.Transpose(m, m, inv, m, l, m)
	gemm.MulABT(m, m, m, 1, l, m, l, m, 0, g.base, g.stride, threads)
	g.readDiagonal()
	return true
}

// dependent returns the elements that a Cholesky factorization with diagonal pivoting does not
// take as pivots at tolerance tol. The squared distance of each to the span of the pivots is at
// most tol times the largest diagonal element.
func (g *inverseGram) dependent(tol float64) []int {
	m := g.order
	order, rank := factor.Pivots(m, restride(g.gram, m, m, g.stride, m, m), m, tol*slices.Max(g.self[:m]), nil)
	return order[rank:]
}

// supervision holds what is known about the error of P.
type supervision struct {
	health        Health
	freshResidual float64 // residual right after the last factorization
	residual      float64 // last measured residual
	probe         int     // dictionary element whose column of K tests P
	wait          int     // steps until the next test
}

// load computes K and P for the dictionary of k.f.
func (k *komp) load() {
	k.inverse = inverseGram{}
	k.inverse.reserve(k.f.Order())
	k.computeK()
	k.probe, k.freshResidual, k.residual, k.wait = 0, 0, 0, 0
	k.b = new(batch)
	k.repair()
}

// computeK computes K for the dictionary of k.f, a few rows at a time: the bits of a value
// depend only on its two elements. k.inverse must have room for the dictionary. P is not
// computed.
func (k *komp) computeK() {
	const rows = 64
	m, dim := k.f.Order(), k.f.Dict.Dim()
	k.inverse.order = m
	x := make([]float64, min(m, rows)*dim)
	for lo := 0; lo < m; lo += rows {
		n := min(rows, m-lo)
		for i := range n {
			kernel.Widen(x[i*dim:(i+1)*dim], k.f.Dict.At(lo+i))
		}
		k.f.Dict.Block64(k.f.Kernel, n, x, k.inverse.gram[lo*k.inverse.stride:], k.inverse.stride, k.threads)
	}
	for i := range m {
		k.inverse.self[i] = k.f.Kernel.Self(k.f.Dict.At(i)) + k.ridge
		k.inverse.gram[i*k.inverse.stride+i] = k.inverse.self[i]
	}
}

// supervise measures P at the next dictionary element, at one of 1 + M/probeShare calls, and
// repairs it if it is too far from K⁻¹.
func (k *komp) supervise() {
	k.wait--
	if k.wait >= 0 || k.inverse.order == 0 {
		return
	}
	defer func() { k.wait = k.inverse.order / probeShare }()
	k.probe = (k.probe + 1) % k.inverse.order
	k.residual = k.probeResidual()
	if !(k.residual <= max(repairAbove, repairGrowth*k.freshResidual)) {
		k.repair()
		if k.inverse.order == 0 {
			return
		}
		k.probe %= k.inverse.order
		k.residual = k.probeResidual()
		k.freshResidual = k.residual
	}
	k.health.Residual = max(k.health.Residual, k.residual)
}

// probeResidual returns max |P·K·e_probe − e_probe|.
func (k *komp) probeResidual() float64 {
	k.scratch = grow(k.scratch, k.inverse.order)
	k.inverse.mul(1, k.inverse.gramRow(k.probe), 0, k.scratch, k.threads)
	k.scratch[k.probe]--
	var res float64
	for _, v := range k.scratch {
		res = max(res, math.Abs(v)) // NaN if v is
	}
	return res
}

// repair recomputes P. Elements whose κ(d, ·) lie numerically in the span of the others make K
// numerically singular: repair first removes them and projects them on the others. The error of
// this projection counts as spent.
func (k *komp) repair() {
	k.watched = nil // the step that it is part of can't be undone
	k.health.Repairs++
	preview := k.borrowed
	if preview && k.repaired.order > 0 { // all previews of a step repair the same
		k.own(&k.repaired)
		return
	}
	k.own(&k.inverse)
	out := kernel.NewExpansion(k.f.Kernel, k.f.Dict.Dim(), k.f.Outputs)
	for tol := singular; !k.inverse.invert(k.threads); tol *= 10 {
		dependent := k.inverse.dependent(tol)
		k.health.Dropped += len(dependent)
		slices.Sort(dependent)
		// Backwards, so that the last element, which takes the place of j, is one that stays.
		for _, j := range slices.Backward(dependent) {
			out.Append(k.f.Dict.At(j), k.f.Weights(j))
			k.b.removeColumn(j, k.inverse.order)
			k.inverse.remove(j)
			k.f.Remove(j)
		}
	}
	if out.Order() > 0 {
		k.spent += k.projectOut(out)
	} else if preview {
		k.repaired.set(&k.inverse)
	}
}

// projectOut gives the weights of elements that have left to the dictionary, which nearly spans
// them, and returns the squared error.
func (k *komp) projectOut(out *kernel.Expansion) float64 {
	l, m, dim := out.Order(), k.inverse.order, k.f.Dict.Dim()
	x, values, coeff := make([]float64, l*dim), make([]float64, l*m), make([]float64, l*m)
	for i := range l {
		kernel.Widen(x[i*dim:], out.Dict.At(i))
	}
	k.f.Dict.Block64(k.f.Kernel, l, x, values, m, k.threads)
	// A round multiplies the error by P's residual: four are enough for any P in use. P alone
	// would leave a residual of the order of K's condition number.
	for range 4 {
		k.inverse.mul(l, k.residualOf(l, values, coeff), 1, coeff, k.threads)
	}
	res := k.residualOf(l, values, coeff)
	var lost float64 // a sum of norms, because the errors of the elements need not be orthogonal
	for i := range l {
		c, w := coeff[i*m:(i+1)*m], out.Weights(i)
		for j, v := range c {
			gemm.Axpy(v, w, k.f.Weights(j))
		}
		// κ(x, x) − 2cᵀv + cᵀKc with K·c = v − res: the error of c enters squared.
		self := k.f.Kernel.Self(out.Dict.At(i)) + k.ridge
		dist2 := self - gemm.Dot(c, values[i*m:(i+1)*m]) - gemm.Dot(c, res[i*m:(i+1)*m])
		lost += math.Sqrt(max(dist2, 0) * sumSquares(w))
	}
	return float64(lost * lost)
}

// removeColumn deletes column j of the m-column matrix b.toDict; the last
// column takes its place.
func (b *batch) removeColumn(j, m int) {
	for i := range b.n {
		row := b.toDict[i*m : (i+1)*m]
		row[j] = row[m-1]
		copy(b.toDict[i*(m-1):], row[:m-1])
	}
}
