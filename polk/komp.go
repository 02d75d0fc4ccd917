package polk

import (
	"context"
	"math"
	"slices"

	"polkrepro/internal/factor"
	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// This file, eliminate.go and commit.go implement Algorithm 1 as fast as this package can: the
// same removals in the same order and the same weights as polk/internal/literal, which solves a
// least-squares problem for each candidate of each removal. Here a removal costs O((n+C)·M).
//
// # What a removal costs
//
// Let I be the elements that are left, w their weights, Q = K_II⁻¹ and q_j column j of Q. The
// weights are the best ones for f̃ on I (pre-fitting), so the error f̃ − Σ_{k∈I} w_k κ(d_k, ·),
// whose squared norm is r², is orthogonal to all κ(d_k, ·), k ∈ I. The removal of j therefore
// adds to r² the product of ‖w_j‖² and the squared distance of κ(d_j, ·) to the span of the
// others, which is 1/Q_jj. Line 4 becomes
//
//	γ_j² = r² + ‖w_j‖²/Q_jj,                                          (a)
//
// and with the scaled column o = q_j/√Q_jj, lines 10 to 12 become
//
//	w_k ← w_k − (o_k/o_j)·w_j,    Q ← Q − o·oᵀ.                       (b)
//
// Of Q, the loop needs only the diagonal and the columns of the elements that it removes.
//
// # The inverse that it starts from
//
// A step adds n new elements X to a dictionary D of M elements, whose K_DD and P = K_DD⁻¹ are
// kept from step to step (inverse.go). With T = P·K_DX, the Schur complement S = K_XX − K_XD·T
// and its factor S = L·Lᵀ,
//
//	K⁻¹ = ⎡P 0⎤ + RᵀR,    R = L⁻¹·[−Tᵀ  I],                           (c)
//	      ⎣0 0⎦
//
// and Q keeps this form through all removals: Q = P̂ + R̂ᵀR̂, where P̂ covers the dictionary
// elements alone, and R̂ has at most n rows, one for each new element that is left.
//
// # Why orthogonal transformations
//
// If elements nearly depend on each other, Q is as large as the condition number of K, and the
// removal of one of them brings the Q_kk of the others down to about 1. Subtracted as in (b),
// these numbers would cancel, and the costs of all later removals would lose their digits. But
// RᵀR is the same for the rows U·R with U orthogonal, and the product with U loses no digits:
//
//   - Column j of a new element lies in R̂ alone. A Householder reflection of R̂'s
//     rows gathers it in the last row, o. Deleting that row is (b).
//   - Column j of a dictionary element lies in P̂ and in R̂. After a reflection, R̂ has
//     it in its last row y. With x the scaled column of P̂,
//     Q = (P̂ − x·xᵀ) + x·xᵀ + R̂ᵀR̂. A rotation of x and y gathers column j in one of
//     the two, o, which is deleted; the other one becomes R̂'s last row.
//
// P̂ − x·xᵀ is never formed. Its columns are computed when they are needed, from P and the x of
// earlier removals (left-looking), so the loop does no O(M²) work. Of Q only the diagonal is
// kept up to date, by subtraction; an entry that loses nearly all of its value is summed again
// from P̂ and R̂ (reduce).
//
// # Where rounding decides
//
// New elements that are numerically linear combinations of the others have no row in R:
// foldDependent gives their weights to the others before the loop. A probe detects when P has
// drifted from K⁻¹; P is then used with iterative refinement or recomputed (inverse.go). Weights
// that would have the error of an ill-conditioned P are refined against K itself at the end
// (refineWeights).
//
// # Where it is
//
// This file prepares the loop: enterBatch computes T, S and L, and folds dependent elements. The
// loop is prune.Pursue; eliminate.go implements its operations. commit.go applies the result to
// the dictionary, its weights, K and P.
const (
	// dependence is the squared distance to the span of the other elements,
	// relative to κ(x, x), below which a new element counts as a linear
	// combination of them: float64 rounding of a Gram matrix is 1e-16 times
	// its condition, so nothing smaller can be told from zero. Algorithm 1
	// would remove such an element at a cost below ‖w‖²·1e-12.
	dependence = 1e-12

	// delicate and independent are squared distances of a new element to the span of all others,
	// relative to κ(x, x). Below delicate the weights are refined after the removals. Above
	// independent no factorization, whatever its order, can meet a pivot as small as dependence.
	delicate    = 1e-5
	independent = 1e-10
)

// batch holds what one functional gradient step adds to a dictionary of M elements: n new
// elements with nonzero weights.
type batch struct {
	n       int
	points  *kernel.Points // n
	spare   *kernel.Points // for compress
	weights []float64      // n×C
	toDict  []float64      // n×M kernel values to the dictionary
	gram    []float64      // n×n kernel values among the new elements
	samples []int          // positions in the mini-batch, −1 for points that a pruner has entered
}

// komp runs destructive KOMP with pre-fitting (Algorithm 1) on a dictionary
// whose inverse Gram matrix it keeps from step to step. Its buffers are
// reused: a step in steady state allocates nothing, unless it folds elements.
//
// Elements are numbered 0 … M−1 in the dictionary and M … M+n−1 in the batch.
type komp struct {
	f       *kernel.Expansion
	threads int
	ridge   float64     // added to the diagonal of K
	inverse inverseGram // K_DD and P

	borrowed bool         // inverse is that of another learner and must not change: see Preview
	spare    inverseGram  // memory for a copy of it
	repaired inverseGram  // the last one that was repaired in a preview of this step; of order 0 if none was
	known    *projections // rows of T from earlier previews of this step; nil outside previews

	interruption
	supervision

	spent float64 // r², the squared error of the removals

	stepState
	start
	pursuit
	change

	// Scratch of single functions.
	scratch  []float64
	product  []float64 // M+n: Q·v
	entrance entrance
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

// start holds the matrices of (c) that a step starts from, and the scratch of their computation.
type start struct {
	illConditioned bool      // the weights must be refined after the removals
	coeff          []float64 // n×M: Tᵀ, the coefficients of the new elements' projections on the dictionary
	coeffResidual  []float64 // n×M: result of residualOf
	schur          []float64 // n×n: S
	chol           []float64 // n×n: L
	cholInv        []float64 // n×n: L⁻¹
	target         []float64 // (M+n)×C: f̃ at all elements, if the weights are refined
}

// approximate replaces f + Σ b.weights κ(b.points, ·) by its sparse approximation with an error
// of at most ε in the Hilbert norm. On return k.removed lists the removed elements.
func (k *komp) approximate(b *batch, epsilon float64) {
	k.begin(b)
	k.step.Epsilon = epsilon
	// The loop fails only if its context ends, and this one doesn't.
	k.project(func() error {
		return prune.Pursue(context.Background(), k, 0, func(j int) bool { return !k.ended() && prune.WithinBudget(k, j) })
	})
}

// project runs a loop that removes elements by any rule, with the work before and after it,
// unless the step is abandoned.
func (k *komp) project(loop func() error) error {
	if k.enterBatch(); k.ended() {
		return nil
	}
	k.startLoop()
	before := k.left
	err := loop()
	if k.ended() {
		return err
	}
	refine := k.illConditioned && (k.b.n > 0 || k.left < before)
	if refine {
		k.evaluateTarget()
	}
	k.commit()
	if refine && !k.abandoned {
		k.refineWeights()
	}
	return err
}

// begin begins a step that adds b.
func (k *komp) begin(b *batch) {
	k.b, k.spent, k.illConditioned = b, 0, false
	k.removed, k.keptNew = k.removed[:0], k.keptNew[:0]
}

// enterBatch computes T, S and L, and sets up the weights of all M+n elements, before
// anything can be removed.
func (k *komp) enterBatch() {
	b := k.b
	for i := range b.n {
		b.gram[i*(b.n+1)] += k.ridge
	}
	k.solve()
	k.dict = k.inverse.order
	k.formSchur()
	if !k.factor() && !k.ended() {
		k.foldDependent()
		k.illConditioned = !k.factor() || k.illConditioned
	}
	n, m, c := b.n, k.dict, k.f.Outputs
	k.number(m + n)
	k.weights, k.norm2 = grow(k.weights, (m+n)*c), grow(k.norm2, m+n)
	copy(k.weights, k.f.W)
	copy(k.weights[m*c:], b.weights[:n*c])
	for j := range m + n {
		k.norm2[j] = sumSquares(k.weights[j*c : (j+1)*c])
	}
}

// solve computes Tᵀ = K_XD·P. Once in 1 + M/probeShare steps it measures P first, and repairs it
// if necessary. Without new elements, it only checks by P's diagonal whether the dictionary is
// ill-conditioned.
func (k *komp) solve() {
	b, m := k.b, k.inverse.order
	if b.n == 0 || m == 0 {
		for j, p := range k.inverse.diag[:m] {
			k.illConditioned = k.illConditioned || !(p*k.inverse.self[j] < 1/delicate)
		}
		return
	}
	k.supervise()
	m = k.inverse.order // a repair may have taken elements out
	k.coeff = grow(k.coeff, b.n*m)
	from := k.recall()
	if k.coefficients(b.n-from, b.toDict[from*m:], k.coeff[from*m:]) {
		k.illConditioned = true
		k.health.Refinements++
	}
	k.remember(from)
}

// coefficients sets coeff, n×M, to v·P: the coefficients of the projections on the dictionary of
// n points with the kernel values v, n×M. It reports whether it refined them.
func (k *komp) coefficients(n int, v, coeff []float64) (refined bool) {
	k.inverse.mul(n, v, 0, coeff, k.threads)
	if !(k.residual > refineAbove) {
		return false
	}
	// Iterative refinement, T += P·(K_DX − K·T). With an ill-conditioned K, the error of P·K_DX
	// is of the order of the condition number, and that of the refined T of the order of its
	// residual. A round multiplies the error by P's residual, which the probe keeps small: two
	// rounds are enough.
	for range 2 {
		k.inverse.mul(n, k.residualOf(n, v, coeff), 1, coeff, k.threads)
	}
	return true
}

// residualOf returns v − coeff·K, n×M, which is (K_DX − K·T)ᵀ.
func (k *komp) residualOf(n int, v, coeff []float64) []float64 {
	m := k.inverse.order
	k.coeffResidual = grow(k.coeffResidual, n*m)
	copy(k.coeffResidual, v[:n*m])
	gemm.MulABT(n, m, m, -1, coeff, m, k.inverse.gram, k.inverse.stride, 1, k.coeffResidual, m, k.threads)
	return k.coeffResidual
}

// formSchur computes S = K_XX − K_XD·T. With a refined T, the residual E = K_DX − K·T
// contributes −EᵀT: the error of the result, K_XX − TᵀK_DX − K_XD·T + TᵀKT, is then quadratic in
// the error of T, and small squared distances survive.
func (k *komp) formSchur() {
	b, m, n := k.b, k.inverse.order, k.b.n
	k.schur = grow(k.schur, n*n)
	copy(k.schur, b.gram[:n*n])
	if m == 0 || n == 0 {
		return
	}
	gemm.MulABT(n, n, m, -1, b.toDict, m, k.coeff, m, 1, k.schur, n, k.threads)
	if k.illConditioned {
		gemm.MulABT(n, n, m, -1, k.residualOf(n, b.toDict, k.coeff), m, k.coeff, m, 1, k.schur, n, k.threads)
	}
	// Rounding makes S slightly asymmetric, and Cholesky would read only one half.
	for i := range n {
		for j := range i {
			v := (k.schur[i*n+j] + k.schur[j*n+i]) / 2
			k.schur[i*n+j], k.schur[j*n+i] = v, v
		}
	}
}

// factor computes L, L⁻¹ and, for the new elements, the diagonal of S⁻¹, whose reciprocal is the
// squared distance of an element to the span of all others. It reports whether the new elements
// are independent beyond doubt. If so, it also determines whether the weights must be refined.
func (k *komp) factor() bool {
	n, m := k.b.n, k.inverse.order
	k.invDiag = grow(k.invDiag, m+n)
	k.chol = append(k.chol[:0], k.schur[:n*n]...)
	cholesky(k.chol, n, k.ended)
	k.cholInv = grow(k.cholInv, n*n)
	factor.InvertLower(n, k.chol, n, k.cholInv, n, 1)
	// S⁻¹ = L⁻ᵀ·L⁻¹: its diagonal sums the squares of L⁻¹'s columns.
	diag := k.invDiag[m:]
	clear(diag)
	for r := range n {
		for i, v := range k.cholInv[r*n : r*n+r+1] {
			diag[i] += float64(v * v)
		}
	}
	nearest := 1.0 // squared distance relative to κ(x, x)
	for i := range diag {
		diag[i] = max(diag[i], k.leastInverse(m+i))
		nearest = min(nearest, k.leastInverse(m+i)/diag[i])
	}
	if !(nearest > independent) {
		return false
	}
	k.illConditioned = k.illConditioned || nearest < delicate
	return true
}

// foldDependent removes from b the new elements that lie numerically in the span of the
// dictionary and the other new elements, and gives their weights to those. Diagonal pivoting
// chooses the elements to keep: in any other order the coefficients of the rest could be as
// large as the condition number of S.
func (k *komp) foldDependent() {
	b, n, m, c := k.b, k.b.n, k.inverse.order, k.f.Outputs
	norm := func(i int) float64 { return math.Sqrt(max(b.gram[i*(n+1)], math.SmallestNonzeroFloat64)) }
	for i := range n { // relative to κ(x, x), so the kernel's scale does not matter
		for j := range n {
			k.cholInv[i*n+j] = k.schur[i*n+j] / norm(i) / norm(j)
		}
	}
	order, r := factor.Pivots(n, k.cholInv, n, dependence, k.ended)
	pivots, rest := order[:r], order[r:]
	if len(rest) == 0 || k.ended() {
		return
	}
	coeff := make([]float64, len(rest)*r) // of the projections on the pivots
	for i, p := range pivots {
		for j, q := range pivots[:i+1] {
			k.chol[i*r+j] = k.schur[p*n+q]
		}
		for j, q := range rest {
			coeff[j*r+i] = k.schur[q*n+p]
		}
	}
	cholesky(k.chol, r, k.ended)
	factor.SolveLower(len(rest), r, k.chol, r, coeff, r, 1)
	var lost float64 // a sum of norms, because the errors of the elements need not be orthogonal
	for j, i := range rest {
		// The error of f̃: ‖w_i‖ times the distance to the span of the elements that stay.
		dist2 := k.schur[i*(n+1)] - sumSquares(coeff[j*r:(j+1)*r])
		lost += math.Sqrt(max(dist2, 0) * sumSquares(b.weights[i*c:(i+1)*c]))
		k.removed = append(k.removed, m+b.samples[i])
	}
	factor.SolveLowerT(len(rest), r, k.chol, r, coeff, r, 1)
	for j, i := range rest {
		// κ(x_i, ·) is numerically Σ coeff_q κ(x_q, ·) over the pivots plus a combination of
		// dictionary elements. The coefficients of the latter are t_i − Σ coeff_q t_q: the projection
		// of element i on the dictionary minus the part that the pivots already contribute.
		wi, t := b.weights[i*c:(i+1)*c], k.coeff[i*m:(i+1)*m]
		for a, q := range pivots {
			v := coeff[j*r+a]
			gemm.Axpy(v, wi, b.weights[q*c:(q+1)*c])
			gemm.Axpy(-v, k.coeff[q*m:(q+1)*m], t)
		}
		for a, v := range t {
			gemm.Axpy(v, wi, k.f.Weights(a))
		}
	}
	k.health.Folded += len(rest)
	k.spent += float64(lost * lost)
	slices.Sort(pivots)
	k.compress(pivots)
}

// compress drops from b, T and S the new elements that are not in kept, which is sorted.
func (k *komp) compress(kept []int) {
	b, n, m, c, r := k.b, k.b.n, k.inverse.order, k.f.Outputs, len(kept)
	b.points, b.spare = b.spare, b.points
	b.points.Reset()
	for to, from := range kept {
		b.points.Append(b.spare.At(from))
		copy(b.weights[to*c:(to+1)*c], b.weights[from*c:])
		copy(b.toDict[to*m:(to+1)*m], b.toDict[from*m:])
		copy(k.coeff[to*m:(to+1)*m], k.coeff[from*m:])
		b.samples[to] = b.samples[from]
		for q, j := range kept {
			k.schur[to*r+q] = k.schur[from*n+j]
			b.gram[to*r+q] = b.gram[from*n+j]
		}
	}
	b.n = r
}
