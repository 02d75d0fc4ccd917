package polk

import (
	"math"
	"slices"

	"polkrepro/internal/factor"
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

	// nearlyDependent and independent are squared distances of a new element to the span of all
	// others, relative to κ(x, x). Below nearlyDependent the weights are refined after the removals.
	// Above independent no factorization, whatever its order, can meet a pivot as small as dependence.
	nearlyDependent = 1e-5
	independent     = 1e-10
)

// entering holds the n new elements of a step and the matrices of (c). The learner fills in the
// elements, their weights and kernel values, enterElements the others. All are valid until commit
// or the end of the step. Only fold (before the loop), Enter and Drop (during it) change them, and
// pruners that need no inverse.
type entering struct {
	n       int
	points  *kernel.Points // n
	spare   *kernel.Points // for compress
	samples []int          // positions in the mini-batch, −1 for points that a pruner has entered

	weights matrix // n×C, of f̃
	toDict  matrix // n×M: κ, the kernel values to the dictionary
	gram    matrix // n×n: κ among the new elements, plus the ridge
	coeff   matrix // n×M: Tᵀ, the coefficients of the new elements' projections on the dictionary
	refined bool   // coeff has been refined
	schur   matrix // n×n: S
	chol    matrix // n×n: L
	cholInv matrix // n×n: L⁻¹
}

func newEntering(dim int) entering {
	return entering{points: kernel.NewPoints(dim), spare: kernel.NewPoints(dim)}
}

// clear removes all elements.
func (e *entering) clear(outputs int) {
	e.n, e.samples, e.weights = 0, e.samples[:0], e.weights.Fresh(0, outputs)
	e.points.Reset()
}

// append adds element i of the mini-batch, or a point that a pruner has entered if i is −1, and
// returns its weights, which are zero.
func (e *entering) append(i int, x []float32) []float64 {
	_, c := e.weights.Dims()
	e.points.Append(x)
	e.samples = append(e.samples[:e.n], i)
	e.weights = e.weights.Reshaped(e.n+1, c)
	e.n++
	return e.weights.Row(e.n - 1)
}

// solve computes Tᵀ = K_XD·P.
func (e *entering) solve(d *dictionary) {
	e.coeff = e.coeff.Fresh(e.n, d.inverse.order())
	from := d.recall(e)
	e.refined = d.coefficients(e.toDict.Rows(from, e.n), e.coeff.Rows(from, e.n))
	if e.refined {
		d.health.Refinements++
	}
	d.remember(e, from)
}

// formSchur computes S = K_XX − K_XD·T. With a refined T, the residual E = K_DX − K·T
// contributes −EᵀT: the error of the result, K_XX − TᵀK_DX − K_XD·T + TᵀKT, is then quadratic in
// the error of T, and small squared distances survive.
func (e *entering) formSchur(d *dictionary) {
	e.schur = e.schur.Fresh(e.n, e.n)
	e.schur.Copy(e.gram)
	if e.n == 0 || d.inverse.order() == 0 {
		return
	}
	gemm.MulABT(-1, e.toDict, e.coeff, 1, e.schur, d.threads)
	if e.refined {
		gemm.MulABT(-1, d.residualOf(e.toDict, e.coeff), e.coeff, 1, e.schur, d.threads)
	}
	// Rounding makes S slightly asymmetric, and Cholesky would read only one half.
	schur := e.schur
	for i := range e.n {
		row := schur.Row(i)
		for j := range i {
			v := (row[j] + schur.At(j, i)) / 2
			row[j] = v
			schur.Set(j, i, v)
		}
	}
}

// factorize computes L, L⁻¹ and diag, the diagonal of S⁻¹, whose reciprocal is the squared distance
// of an element to the span of all others. It returns the least of them, relative to κ(x, x).
func (e *entering) factorize(diag []float64, ended func() bool) (nearest float64) {
	e.chol = e.chol.Fresh(e.n, e.n)
	e.chol.Copy(e.schur)
	cholesky(e.chol, ended)
	e.cholInv = e.cholInv.Fresh(e.n, e.n)
	factor.InvertLower(e.chol, e.cholInv, 1)
	// S⁻¹ = L⁻ᵀ·L⁻¹: its diagonal sums the squares of L⁻¹'s columns.
	clear(diag)
	for r := range e.n {
		for i, v := range e.cholInv.Row(r)[:r+1] {
			diag[i] += float64(v * v)
		}
	}
	nearest = 1
	for i := range diag {
		least := 1 / e.gram.At(i, i)
		diag[i] = max(diag[i], least)
		nearest = min(nearest, least/diag[i])
	}
	return nearest
}

// fold removes the new elements that lie numerically in the span of the dictionary and the other
// new elements, and gives their weights to those. Diagonal pivoting chooses the elements to keep:
// in any other order the coefficients of the rest could be as large as the condition number of S.
// It returns the positions of the removed elements in the mini-batch, and the squared error.
func (e *entering) fold(f *kernel.Expansion, ended func() bool) (samples []int, lost float64) {
	e.scaleSchur()
	order, r := factor.Pivots(e.cholInv, dependence, ended)
	pivots, rest := order[:r], order[r:]
	if len(rest) == 0 || ended() {
		return nil, 0
	}
	coeff := gemm.NewMatrix[float64](len(rest), r) // of the projections on the pivots
	e.chol = e.chol.Fresh(r, r)
	for i, p := range pivots {
		for j, q := range pivots[:i+1] {
			e.chol.Set(i, j, e.schur.At(p, q))
		}
		for j, q := range rest {
			coeff.Set(j, i, e.schur.At(q, p))
		}
	}
	cholesky(e.chol, ended)
	factor.SolveLower(e.chol, coeff, 1)
	for j, i := range rest {
		// The error of f̃: ‖w_i‖ times the distance to the span of the elements that stay.
		dist2 := e.schur.At(i, i) - sumSquares(coeff.Row(j))
		lost += math.Sqrt(max(dist2, 0) * sumSquares(e.weights.Row(i)))
		samples = append(samples, e.samples[i])
	}
	factor.SolveLowerT(e.chol, coeff, 1)
	for j, i := range rest {
		e.giveWeights(i, pivots, coeff.Row(j), f)
	}
	slices.Sort(pivots)
	e.compress(pivots)
	return samples, float64(lost * lost) // a sum of norms, because the errors of the elements need not be orthogonal
}

// scaleSchur writes S to cholInv, relative to κ(x, x), so that the kernel's scale does not matter.
func (e *entering) scaleSchur() {
	norm := func(i int) float64 { return math.Sqrt(max(e.gram.At(i, i), math.SmallestNonzeroFloat64)) }
	for i := range e.n {
		for j, v := range e.schur.Row(i) {
			e.cholInv.Set(i, j, v/norm(i)/norm(j))
		}
	}
}

// giveWeights gives the weights of element i to the others: κ(x_i, ·) is numerically
// Σ coeff_q κ(x_q, ·) over the pivots plus a combination of dictionary elements. The coefficients of
// the latter are t_i − Σ coeff_q t_q: the projection of element i on the dictionary minus the part
// that the pivots already contribute.
func (e *entering) giveWeights(i int, pivots []int, coeff []float64, f *kernel.Expansion) {
	w, t := e.weights.Row(i), e.coeff.Row(i)
	for a, q := range pivots {
		gemm.Axpy(coeff[a], w, e.weights.Row(q))
		gemm.Axpy(-coeff[a], e.coeff.Row(q), t)
	}
	for a, v := range t {
		gemm.Axpy(v, w, f.Weights(a))
	}
}

// compress drops the new elements that are not in kept, which is sorted.
func (e *entering) compress(kept []int) {
	e.points, e.spare = e.spare, e.points
	e.points.Reset()
	for to, from := range kept {
		e.points.Append(e.spare.At(from))
		e.samples[to] = e.samples[from]
		for _, m := range []matrix{e.weights, e.toDict, e.coeff, e.schur, e.gram} {
			copy(m.Row(to), m.Row(from))
		}
		for _, m := range []matrix{e.schur, e.gram} {
			for i, row := 0, m.Row(to); i < len(kept); i++ {
				row[i] = row[kept[i]] // kept[i] is at least i
			}
		}
	}
	e.n = len(kept)
	e.weights, e.toDict, e.coeff = e.weights.Rows(0, e.n), e.toDict.Rows(0, e.n), e.coeff.Rows(0, e.n)
	e.schur, e.gram = e.schur.Reshaped(e.n, e.n), e.gram.Reshaped(e.n, e.n)
}
