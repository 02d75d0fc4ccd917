package polk

import (
	"context"
	"math"

	"polkrepro/internal/gemm"
	"polkrepro/polk/prune"
)

// komp is destructive KOMP with pre-fitting, Algorithm 1: the same removals in the same order and
// the same weights as polk/internal/literal, which solves a least-squares problem for each candidate of each
// removal. Here a removal costs O((n+C)·M); letters in parentheses refer to the derivation in the
// package comment. The statements of Algorithm 1 are in these places:
//
//	1       enterElements    D, w ← D̃, w̃, with the matrices (c)
//	2       prune.Pursue     while an element is left
//	3–6     Cheapest         j* = argmin γ_j, by (a)
//	7, 8    prune.Pursue     unless γ_j* ≤ ε, stop
//	9–12    Remove           take j* out of I and refit the weights, by (b)
//	15      commit           D, w and the new K and P
//
// Another pruner has a loop of its own in place of prune.Pursue.
//
// Elements are numbered 0 … M−1 in the dictionary and M … M+n−1 among the new ones. Buffers are
// reused: a step in steady state allocates nothing, unless it folds elements.
type komp struct {
	dict   dictionary // kept from step to step
	in     entering   // of a step
	loop              // from startLoop to commit
	border bordering
	outcome

	illConditioned bool // the weights must be refined after the loop: set by assess
	undoable       bool // the pruner keeps no state, so a step may be undone until commit
	interruption
}

// interruption lets a step end early.
type interruption struct {
	watched   context.Context // the step's; nil once the step can't be undone
	abandoned bool            // the step has ended early: Learner.Step undoes it
}

// ended reports whether the context of the step has ended, and if so abandons the step: its
// results are not used, so a loop may end anywhere.
func (i *interruption) ended() bool {
	i.abandoned = i.abandoned || i.watched != nil && i.watched.Err() != nil
	return i.abandoned
}

// begin begins a step that adds the elements of k.in.
func (k *komp) begin() {
	k.functions, k.added = k.dict.f, &k.in
	k.squaredError, k.removed, k.kept = 0, k.removed[:0], k.kept[:0]
}

// project replaces f + Σ w_i κ(x_i, ·), over the new elements, by its approximation on the elements
// that p leaves, unless the step is abandoned.
func (k *komp) project(ctx context.Context, p prune.InversePruner) error {
	k.enterElements()
	if k.ended() {
		return nil
	}
	switch {
	case !k.undoable:
		k.watched = nil
	case k.watched == nil: // after a repair, the step is taken as a whole
		ctx = context.Background()
	}
	k.startLoop()
	before := k.left
	err := p.Prune(ctx, k)
	if k.ended() {
		return err
	}
	refine := k.illConditioned && (k.in.n > 0 || k.left < before)
	if refine {
		k.evaluateTarget()
	}
	k.commit()
	if refine && !k.abandoned {
		k.refineWeights()
	}
	return err
}

// enterElements computes T, S and L, and sets up the weights of all M+n elements, before anything
// can be removed.
func (k *komp) enterElements() {
	in, d := &k.in, &k.dict
	for i := range in.n {
		in.gram.Row(i)[i] += d.ridge
	}
	removalsOnly := in.n == 0
	in.coeff, in.refined = in.coeff.Fresh(in.n, d.inverse.order()), false
	if in.n > 0 && d.inverse.order() > 0 {
		k.supervise()
		in.solve(d)
	}
	in.formSchur(d)
	k.order = d.inverse.order()
	k.illConditioned = k.assess(k.factorize(), removalsOnly)
	k.number(k.order + in.n)
	k.weights, k.norm2 = k.weights.Fresh(k.order+in.n, d.f.Outputs), grow(k.norm2, k.order+in.n)
	k.weights.Rows(0, k.order).Copy(d.weights())
	k.weights.Rows(k.order, k.order+in.n).Copy(in.weights)
	k.updateNorms()
}

// supervise supervises P, and takes elements that a repair removes out of K_XD.
func (k *komp) supervise() {
	repaired, removed, lost := k.dict.supervise()
	if repaired {
		k.watched = nil // the step can't be undone
	}
	k.squaredError += lost
	for _, j := range removed {
		k.in.toDict = k.in.toDict.RemoveColumn(j)
	}
}

// factorize computes L, L⁻¹ and Q_jj of the new elements. It folds new elements first unless they
// are independent beyond doubt. It returns the least squared distance of a new element to the span
// of all others, relative to κ(x, x).
func (k *komp) factorize() (nearest float64) {
	in, m := &k.in, k.order
	k.invDiag = grow(k.invDiag, m+in.n)
	nearest = in.factorize(k.invDiag[m:], k.ended)
	if nearest > independent || k.ended() {
		return nearest
	}
	samples, lost := in.fold(k.dict.f, k.ended)
	for _, i := range samples {
		k.removed = append(k.removed, m+i)
	}
	k.dict.health.Folded += len(samples)
	k.squaredError += lost
	k.invDiag = k.invDiag[:m+in.n]
	return in.factorize(k.invDiag[m:], k.ended)
}

// assess reports whether K of all elements is ill-conditioned: solutions with P had to be refined, or
// a new element is nearly dependent on the others. If elements can only leave, the diagonal of P
// shows whether a dictionary element is.
func (k *komp) assess(nearest float64, removalsOnly bool) bool {
	ill := k.in.refined || !(nearest >= nearlyDependent)
	if removalsOnly {
		for j, p := range k.dict.inverse.diag[:k.order] {
			ill = ill || !(p*k.dict.inverse.self[j] < 1/nearlyDependent)
		}
	}
	return ill
}

// startLoop sets up Q = P + RᵀR over all M+n elements (c). It forms only the diagonal of Q.
func (k *komp) startLoop() {
	n, m := k.in.n, k.order
	k.self = append(k.self[:0], k.dict.inverse.self[:m]...)
	for i := range n {
		k.self = append(k.self, k.in.gram.At(i, i))
	}
	k.oldDiag, k.column = grow(k.oldDiag, m+n), grow(k.column, m+n)
	copy(k.oldDiag, k.dict.inverse.diag[:m])
	clear(k.oldDiag[m:])
	copy(k.invDiag[:m], k.dict.inverse.diag)
	k.takenOld, k.takenCols = k.takenOld[:0], k.takenCols.Fresh(0, m)
	// R = L⁻¹·[−Tᵀ | 1]
	k.newRows.Matrix = k.newRows.Fresh(n, m+n)
	gemm.MulAB(-1, k.in.cholInv, k.in.coeff, 0, k.newRows.Cols(0, m), k.dict.threads)
	for i := range n {
		row, squares := k.newRows.Row(i), k.column[:m]
		copy(row[m:], k.in.cholInv.Row(i))
		gemm.Product(squares, row[:m], row[:m])
		gemm.Axpy(1, squares, k.invDiag[:m])
	}
	for j := range m {
		k.invDiag[j] = max(k.invDiag[j], k.leastInverse(j))
	}
}

// Cheapest returns j* (line 6, by (a)), the first of equals.
func (k *komp) Cheapest() int {
	best, least := -1, math.Inf(1)
	for j, on := range k.present {
		if cost := k.Cost(j); on && cost < least {
			best, least = j, cost
		}
	}
	if best < 0 { // no cost is a finite number
		return prune.Least(k, k.Cost)
	}
	return best
}

// Remove implements lines 9 to 12.
func (k *komp) Remove(j int) {
	k.squaredError += k.Cost(j)
	k.eliminate(j)
}

// eliminate takes element j out of P̂ and R̂ and applies (b) to the other elements.
func (k *komp) eliminate(j int) {
	k.leave(j)
	k.column = grow(k.column, len(k.present))
	if j < k.order {
		taken := len(k.takenOld)
		k.takenCols = k.takenCols.Reshaped(taken+1, k.order)
		x := k.takenCols.Row(taken)
		k.dict.inverse.column(x, j)
		k.takeOld(k.column, j, x)
	} else {
		k.takeNew(k.column, j)
	}
	k.shareWeights(j, k.column)
}

// Drop takes the weights of element j out of f̃ and eliminates the element, whose weights are
// then zero.
func (k *komp) Drop(j int) {
	w := k.Weights(j)
	gemm.Axpy(-1, w, k.startWeights(j))
	clear(w)
	k.norm2[j] = 0
	k.eliminate(j)
}

// Self returns κ(x_j, x_j).
func (k *komp) Self(j int) float64 { return k.self[j] - k.dict.ridge }

// Row returns κ between element j and all elements.
func (k *komp) Row(j int) []float64 {
	m := k.order
	k.row = grow(k.row, len(k.present))
	if j < m {
		copy(k.row, k.dict.inverse.gram.Row(j))
		for i := range k.in.n {
			k.row[m+i] = k.in.toDict.At(i, j)
		}
	} else {
		copy(k.row, k.in.toDict.Row(j-m))
		copy(k.row[m:], k.in.gram.Row(j-m))
	}
	k.row[j] = k.Self(j)
	return k.row
}

// DistanceBefore returns the last squared pivot of a Cholesky factorization of S over the
// present new elements up to j.
func (k *komp) DistanceBefore(j int) float64 {
	m := k.order
	if j < m || len(k.takenOld) > 0 {
		panic("polk: DistanceBefore is for new elements, before an old one is removed")
	}
	rows := make([]int, 0, k.in.n)
	for i := range j - m {
		if k.present[m+i] {
			rows = append(rows, i)
		}
	}
	rows = append(rows, j-m)
	last := len(rows) - 1
	a := gemm.NewMatrix[float64](last+1, last+1)
	for i, p := range rows {
		for q, o := range rows {
			a.Set(i, q, k.in.schur.At(p, o))
		}
	}
	cholesky(a, k.ended)
	return a.At(last, last) * a.At(last, last)
}

// Column writes column j of Q = P̂ + R̂ᵀR̂ to dst.
func (k *komp) Column(dst []float64, j int) {
	clear(dst)
	if j < k.order {
		x := dst[:k.order]
		k.dict.inverse.column(x, j)
		k.oldColumn(x, j)
	}
	for i := range k.newRows.Len() {
		row := k.newRows.Row(i)
		gemm.Axpy(row[j], row, dst)
	}
	k.clearAbsent(dst)
}
