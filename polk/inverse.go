package polk

import (
	"slices"

	"polkrepro/internal/factor"
	"polkrepro/internal/gemm"
)

// maxRank bounds the number of vectors that are not yet added to the base of P. Adding 32 of
// them at once is bound by arithmetic, adding one or two by memory.
const maxRank = 32

// singular is the squared pivot, relative to κ(x, x), below which a factorization of K is given up.
const singular = 1e-13

// inverseGram holds the Gram matrix K = K_DD of a dictionary and P = K⁻¹. Both are symmetric. P
// is kept as base + Σ_i sign_i·v_i·v_iᵀ: the few vectors v_i of a step are collected over many
// steps and then added to the base at once.
type inverseGram struct {
	room int       // row stride of the matrices: the largest M without new memory
	gram matrix    // M×M: K
	base matrix    // M×M
	self []float64 // diagonal of K
	diag []float64 // diagonal of P

	signs   [maxRank]float64
	updates matrix // rank×M: the vectors v_i

	columns, signed matrix // scratch
}

// order returns M.
func (g *inverseGram) order() int { return g.gram.Len() }

// rank returns the number of vectors v_i.
func (g *inverseGram) rank() int { return g.updates.Len() }

// size sets M and the rank, for which there must be room. The elements that it adds are undefined.
func (g *inverseGram) size(order, rank int) {
	g.gram, g.base, g.updates = g.gram.Sized(order, order), g.base.Sized(order, order), g.updates.Sized(rank, order)
}

// column writes column j of P to dst, M long.
func (g *inverseGram) column(dst []float64, j int) {
	copy(dst, g.base.Row(j))
	for i := range g.rank() {
		v := g.updates.Row(i)
		gemm.Axpy(g.signs[i]*v[j], v, dst)
	}
}

// mul sets dst = beta·dst + a·P for a and dst of n×M.
func (g *inverseGram) mul(a matrix, beta float64, dst matrix, threads int) {
	// P = base + V·diag(signs)·Vᵀ: the base is read once for all n rows, and each of the two
	// products with the r vectors costs r/m of that.
	gemm.MulABT(1, a, g.base, beta, dst, threads)
	if g.rank() == 0 {
		return
	}
	g.signed = g.signed.Fresh(a.Len(), g.rank())
	gemm.MulABT(1, a, g.updates, 0, g.signed, threads)
	for i := range a.Len() {
		gemm.Product(g.signed.Row(i), g.signed.Row(i), g.signs[:g.rank()])
	}
	gemm.MulAB(1, g.signed, g.updates, 1, dst, threads)
}

// add adds sign·v·vᵀ to P.
func (g *inverseGram) add(sign float64, v []float64, threads int) {
	if g.rank() == maxRank {
		g.flush(threads)
	}
	r := g.rank()
	g.size(g.order(), r+1)
	copy(g.updates.Row(r), v)
	g.signs[r] = sign
	for j, x := range v {
		g.diag[j] += float64(sign * x * x)
	}
}

// flush adds the vectors to the base.
func (g *inverseGram) flush(threads int) {
	m, r := g.order(), g.rank()
	if r > 0 {
		g.columns, g.signed = g.columns.Fresh(m, r), g.signed.Fresh(m, r) // V and V·diag(signs)
		gemm.Transpose(g.updates, g.columns)
		for i := range m {
			gemm.Product(g.signed.Row(i), g.columns.Row(i), g.signs[:r])
		}
		gemm.MulABT(1, g.signed, g.columns, 1, g.base, threads)
		g.readDiagonal()
	}
	g.size(m, 0)
}

func (g *inverseGram) readDiagonal() {
	for j := range g.order() {
		g.diag[j] = g.base.At(j, j)
	}
}

// reserve makes room for n elements.
func (g *inverseGram) reserve(n int) {
	if n > g.room {
		g.enlarge((n + n/2 + 64) &^ 7)
	}
}

// enlarge makes room for that many elements in all.
func (g *inverseGram) enlarge(room int) {
	old := *g
	g.room, g.gram, g.base, g.updates = room, gemm.NewMatrix[float64](room, room), gemm.NewMatrix[float64](room, room), gemm.NewMatrix[float64](maxRank, room)
	g.self = append(g.self, make([]float64, room-len(g.self))...)
	g.diag = append(g.diag, make([]float64, room-len(g.diag))...)
	g.copyMatrices(&old)
}

// copyMatrices copies the matrices of h, for which there must be room.
func (g *inverseGram) copyMatrices(h *inverseGram) {
	g.size(h.order(), h.rank())
	g.gram.Copy(h.gram)
	g.base.Copy(h.base)
	g.updates.Copy(h.updates)
}

// set makes g a copy of h and keeps its memory.
func (g *inverseGram) set(h *inverseGram) {
	g.clear()
	g.reserve(h.order())
	g.copyMatrices(h)
	g.signs = h.signs
	copy(g.self, h.self[:h.order()])
	copy(g.diag, h.diag[:h.order()])
}

// clear removes all elements and keeps the memory.
func (g *inverseGram) clear() { g.size(0, 0) }

// remove deletes row and column j; the last ones take their place.
func (g *inverseGram) remove(j int) {
	last := g.order() - 1
	for _, a := range []matrix{g.gram, g.base} {
		copy(a.Row(j), a.Row(last))
		a.MoveColumn(j, last)
	}
	g.self[j], g.diag[j] = g.self[last], g.diag[last]
	g.updates.MoveColumn(j, last)
	g.size(last, g.rank())
}

// append adds a row and column to K, and zeros to P: the new element enters P
// by add. row holds κ between the new element and the M old ones.
func (g *inverseGram) append(row []float64, self float64) {
	m := g.order()
	g.reserve(m + 1)
	g.size(m+1, g.rank())
	copy(g.gram.Row(m), row[:m])
	g.gram.Set(m, m, self)
	clear(g.base.Row(m))
	for i := range m {
		g.gram.Set(i, m, row[i])
		g.base.Set(i, m, 0)
	}
	g.self[m], g.diag[m] = self, 0
	for i := range g.rank() {
		g.updates.Set(i, m, 0)
	}
}

// invert computes P from K by a Cholesky factorization. It returns false, and leaves no usable
// P, if a squared pivot is below singular times its diagonal element: K is then numerically
// singular.
func (g *inverseGram) invert(threads int) bool {
	m := g.order()
	g.size(m, 0)
	l := g.gram.Clone()
	if !factor.Cholesky(l, threads) {
		return false
	}
	// A squared pivot is the squared distance of an element to the span of the elements before
	// it.
	for i := range m {
		if d := l.At(i, i); !(d*d >= singular*g.self[i]) {
			return false
		}
	}
	// P = L⁻ᵀ·L⁻¹: the products of the columns of L⁻¹.
	inv := gemm.NewMatrix[float64](m, m)
	factor.InvertLower(l, inv, threads)
	gemm.Transpose(inv, l)
	gemm.MulABT(1, l, l, 0, g.base, threads)
	g.readDiagonal()
	return true
}

// dependent returns the elements that a Cholesky factorization with diagonal pivoting does not
// take as pivots at tolerance tol. The squared distance of each to the span of the pivots is at
// most tol times the largest diagonal element.
func (g *inverseGram) dependent(tol float64) []int {
	order, rank := factor.Pivots(g.gram.Clone(), tol*slices.Max(g.self[:g.order()]), nil)
	return order[rank:]
}
