package polk

import (
	"context"
	"math"
	"slices"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
	"polkrepro/polk/prune"
)

// This file, eliminate.go and commit.go implement Algorithm 1 as fast as this package can: the
// same removals in the same order and the same weights as polk/literal, which solves a
// least-squares problem for each candidate of each removal. Here a removal costs O(n·M).
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
// from P̂ and R̂ (update).
//
// # What is deferred
//
// (b) changes all weights, C·M numbers, at every removal, but the loop needs only the weights of
// the few elements that may be removed next. It therefore keeps o and u = w_j/o_j of each
// removal, and for every element a lower bound of √(‖w_k‖²/Q_kk). A removal moves w_k by
// |o_k|·‖u‖ and never increases Q_kk, so the bound falls by
//
//	|o_k|·‖u‖/√Q_kk,                                                  (d)
//
// with the Q_kk at which the bound was last exact: (‖w_k‖ − Σ|o_k|·‖u‖)/√Q_kk can only grow as
// Q_kk falls further. Only an element whose bound is the least of all gets (b), for all removals
// not yet applied to it. The other elements get them after every 64 removals and at the end,
// w ← w − Oᵀ·U in one product. Then commit brings P to the new dictionary: removed old elements
// leave, then kept new ones enter.
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

func newBatch(dim int) batch {
	return batch{points: kernel.NewPoints(dim), spare: kernel.NewPoints(dim)}
}

// komp runs destructive KOMP with pre-fitting (Algorithm 1) on a dictionary
// whose inverse Gram matrix it keeps from step to step. Its buffers are
// reused: a step in steady state allocates nothing.
//
// Elements are numbered 0 … M−1 in the dictionary and M … M+n−1 in the batch.
type komp struct {
	f       *kernel.Expansion
	threads int
	ridge   float64     // added to the diagonal of K
	inverse inverseGram // K_DD and P
	supervision

	spent float64 // r², the squared error of the removals

	stepState
	start
	costs
	deferred
	loopInverse
	change

	// Scratch of single functions.
	scratch  []float64
	product  []float64 // M+n: Q·v
	entrance entrance
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

	// Set by pivot.
	schurLeft  []float64 // n×n: remainder of S after pivoting
	pivotRows  []float64 // n×n: row i is the row of new element i in the pivoted factor
	unpivoted  []int     // new elements that have not been pivots
	pivotOrder []int     // new elements that have been pivots, in this order
}

// approximate replaces f + Σ b.weights κ(b.points, ·) by its sparse approximation with an error
// of at most ε in the Hilbert norm. On return k.removed lists the removed elements.
func (k *komp) approximate(b *batch, epsilon float64) {
	k.begin(b)
	k.step.Epsilon = epsilon
	// The loop fails only if its context ends, and this one doesn't.
	k.project(func() error {
		return prune.Pursue(context.Background(), k, 0, func(j int) bool { return prune.WithinBudget(k, j) })
	})
}

// project runs a loop that removes elements by any rule, with the work before and after it.
func (k *komp) project(loop func() error) error {
	k.enterBatch()
	k.startLoop()
	before := k.left
	err := loop()
	k.settle()
	refine := k.illConditioned && (k.b.n > 0 || k.left < before)
	if refine {
		k.evaluateTarget()
	}
	k.commit()
	if refine {
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
	if !k.factor() {
		k.foldDependent()
		k.factor()
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
	if k.wait--; k.wait < 0 {
		k.supervise()
		m = k.inverse.order // a repair may have taken elements out
		k.wait = m / probeShare
	}
	k.coeff = grow(k.coeff, b.n*m)
	if k.coefficients(b.n, b.toDict, k.coeff) {
		k.illConditioned = true
		k.health.Refinements++
	}
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
	cholesky(k.chol, n)
	k.cholInv = grow(k.cholInv, n*n)
	inverseLower(k.cholInv, k.chol, n)
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
	rest := k.pivot()
	if len(rest) == 0 {
		return
	}
	r := len(k.pivotOrder)
	for i, p := range k.pivotOrder {
		copy(k.chol[i*n:i*n+r], k.pivotRows[p*n:p*n+r])
	}
	var lost float64 // a sum of norms, because the errors of the elements need not be orthogonal
	for _, i := range rest {
		coeff := k.pivotRows[i*n : i*n+r]
		backward(k.chol, n, coeff)
		// κ(x_i, ·) is numerically Σ coeff_q κ(x_pivotOrder[q], ·) plus a combination of dictionary
		// elements. The coefficients of the latter are t_i − Σ coeff_q t_q: the projection of
		// element i on the dictionary minus the part that the pivots already contribute.
		wi, t := b.weights[i*c:(i+1)*c], k.coeff[i*m:(i+1)*m]
		for q, j := range k.pivotOrder {
			axpy(coeff[q], wi, b.weights[j*c:(j+1)*c])
			gemm.Axpy(-coeff[q], k.coeff[j*m:(j+1)*m], t)
		}
		for j, v := range t {
			axpy(v, wi, k.f.Weights(j))
		}
		k.health.Folded++
		// The error of f̃: ‖w_i‖ times the distance to the span of the elements that stay.
		lost += math.Sqrt(max(k.schurLeft[i*n+i], 0) * sumSquares(wi))
		k.removed = append(k.removed, m+b.samples[i])
	}
	k.spent += float64(lost * lost)
	slices.Sort(k.pivotOrder)
	k.compress()
}

// pivot factorizes S with diagonal pivoting while the pivots exceed dependence, and returns the
// elements that are left. k.pivotOrder lists the pivots in order, and row i of k.pivotRows is
// the row of element i in the factor. The diagonal of k.schurLeft holds the squared distances of
// the returned elements to the span of the dictionary and the pivots.
func (k *komp) pivot() []int {
	n := k.b.n
	k.schurLeft, k.pivotRows, k.chol = append(k.schurLeft[:0], k.schur[:n*n]...), grow(k.pivotRows, n*n), grow(k.chol, n*n)
	k.pivotOrder = k.pivotOrder[:0]
	rest := k.unpivoted[:0]
	for i := range n {
		rest = append(rest, i)
	}
	k.unpivoted = rest
	// Invariant: over the elements of rest, schurLeft is S minus the part that the r pivots so
	// far explain, which is the Schur complement over the dictionary and those pivots.
	for r := range n {
		q, left := 0, 0.0
		for p, i := range rest {
			if v := k.schurLeft[i*n+i] / k.b.gram[i*n+i]; v > left {
				q, left = p, v
			}
		}
		if left <= dependence { // relative to κ(x, x), so the kernel's scale does not matter
			break
		}
		k.illConditioned = k.illConditioned || left < delicate
		i := rest[q]
		rest = slices.Delete(rest, q, q+1)
		k.pivotOrder = append(k.pivotOrder, i)
		d := math.Sqrt(k.schurLeft[i*n+i])
		k.pivotRows[i*n+r] = d
		for _, j := range rest {
			k.pivotRows[j*n+r] = k.schurLeft[j*n+i] / d
		}
		for _, j := range rest {
			for _, p := range rest {
				k.schurLeft[j*n+p] -= float64(k.pivotRows[j*n+r] * k.pivotRows[p*n+r])
			}
		}
	}
	return rest
}

// compress drops from b, T and S the new elements that are not in k.pivotOrder.
func (k *komp) compress() {
	b, n, m, c, r := k.b, k.b.n, k.inverse.order, k.f.Outputs, len(k.pivotOrder)
	b.points, b.spare = b.spare, b.points
	b.points.Reset()
	for to, from := range k.pivotOrder {
		b.points.Append(b.spare.At(from))
		copy(b.weights[to*c:(to+1)*c], b.weights[from*c:])
		copy(b.toDict[to*m:(to+1)*m], b.toDict[from*m:])
		copy(k.coeff[to*m:(to+1)*m], k.coeff[from*m:])
		b.samples[to] = b.samples[from]
		for q, j := range k.pivotOrder {
			k.schur[to*r+q] = k.schur[from*n+j]
			b.gram[to*r+q] = b.gram[from*n+j]
		}
	}
	b.n = r
}
