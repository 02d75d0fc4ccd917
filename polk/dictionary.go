package polk

import (
	"math"
	"slices"

	"polkrepro/internal/gemm"
	"polkrepro/kernel"
)

const (
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

// A dictionary is what a learner keeps from step to step: its functions, on M elements, with
// K = K_DD and P = K⁻¹. Between steps the three are of the same elements. During a step only
// supervise (before the loop) and commit (after it) change elements, K and P. The weights are those
// of f̃ from the beginning of a step until commit; fold adds the parts of dependent new elements to
// them, and Drop takes those of an element out.
type dictionary struct {
	f       *kernel.Expansion
	threads int
	ridge   float64     // added to the diagonal of K
	inverse inverseGram // K and P
	supervision
	loan

	residuals matrix // result of residualOf
	solution  matrix // result of addSolution
}

// supervision holds what is known about the error of P.
type supervision struct {
	health        Health
	freshResidual float64 // residual right after the last factorization
	residual      float64 // last measured residual
	probe         int     // dictionary element whose column of K tests P
	wait          int     // steps until the next test
}

// A loan is the state of a dictionary that uses K and P of another learner: see Preview.
type loan struct {
	borrowed bool         // inverse is that of the other learner and must not change
	spare    inverseGram  // memory for a copy of it
	repaired inverseGram  // the last one that was repaired in a preview of this step; of order 0 if none was
	known    *projections // rows of T from earlier previews of this step; nil outside previews
}

// borrow makes d use g, without copying it, until keep is called.
func (d *dictionary) borrow(g *inverseGram) {
	if !d.borrowed {
		d.spare = d.inverse
	}
	d.inverse, d.borrowed = *g, true
}

// keep replaces a borrowed K and P by a copy of g. It must be called before they change.
func (d *dictionary) keep(g *inverseGram) {
	if d.borrowed {
		d.spare.set(g)
		d.inverse, d.spare, d.borrowed = d.spare, inverseGram{}, false
	}
}

// weights returns the weights of the functions, M×C.
func (d *dictionary) weights() matrix { return gemm.MatrixOf(d.f.Order(), d.f.Outputs, d.f.W) }

// coefficients sets coeff, n×M, to v·P: the coefficients of the projections on the dictionary of
// n points with the kernel values v, n×M. It reports whether it refined them.
func (d *dictionary) coefficients(v, coeff matrix) (refined bool) {
	d.inverse.mul(v, 0, coeff, d.threads)
	if !(d.residual > refineAbove) {
		return false
	}
	// Iterative refinement, T += P·(K_DX − K·T). With an ill-conditioned K, the error of P·K_DX
	// is of the order of the condition number, and that of the refined T of the order of its
	// residual. A round multiplies the error by P's residual, which the probe keeps small: two
	// rounds are enough.
	for range 2 {
		d.inverse.mul(d.residualOf(v, coeff), 1, coeff, d.threads)
	}
	return true
}

// residualOf returns v − coeff·K, n×M, which is (K_DX − K·T)ᵀ. It is valid until the next call.
func (d *dictionary) residualOf(v, coeff matrix) matrix {
	d.residuals = d.residuals.Fresh(v.Dims())
	d.residuals.Copy(v)
	gemm.MulABT(-1, coeff, d.inverse.gram, 1, d.residuals, d.threads)
	return d.residuals
}

// addSolution adds P·vᵀ to the weights, for v of C×M, and returns v·P, also C×M.
func (d *dictionary) addSolution(v matrix) matrix {
	d.solution = d.solution.Fresh(v.Dims())
	d.inverse.mul(v, 0, d.solution, d.threads)
	for j := range d.inverse.order() {
		w := d.f.Weights(j)
		for q := range w {
			w[q] += d.solution.At(q, j)
		}
	}
	return d.solution
}

// load computes K and P for the functions, and returns the squared error of a repair.
func (d *dictionary) load() (lost float64) {
	d.inverse = inverseGram{}
	d.inverse.reserve(d.f.Order())
	d.computeK()
	d.probe, d.freshResidual, d.residual, d.wait = 0, 0, 0, 0
	_, lost = d.repair()
	return lost
}

// computeK computes K for the functions, a few rows at a time: the bits of a value depend only on
// its two elements. inverse must have room for the dictionary. P is not computed.
func (d *dictionary) computeK() {
	const rows = 64
	m := d.f.Order()
	d.inverse.size(m, 0)
	for lo := 0; lo < m; lo += rows {
		hi := min(lo+rows, m)
		d.f.Dict.Block64(d.f.Kernel, d.f.Dict.Rows64(lo, hi), d.inverse.gram.Rows(lo, hi), d.threads)
	}
	for i := range m {
		d.inverse.self[i] = d.f.Kernel.Self(d.f.Dict.At(i)) + d.ridge
		d.inverse.gram.Set(i, i, d.inverse.self[i])
	}
}

// supervise measures P at the next dictionary element, at one of 1 + M/probeShare calls, and repairs
// it if it is too far from K⁻¹. It reports whether it did, and returns the results of repair.
func (d *dictionary) supervise() (repaired bool, removed []int, lost float64) {
	d.wait--
	if d.wait >= 0 || d.inverse.order() == 0 {
		return false, nil, 0
	}
	d.probe = (d.probe + 1) % d.inverse.order()
	d.residual = d.probeResidual()
	if !(d.residual <= max(repairAbove, repairGrowth*d.freshResidual)) {
		repaired = true
		removed, lost = d.repair()
	}
	if m := d.inverse.order(); m > 0 {
		if repaired {
			d.probe %= m
			d.residual = d.probeResidual()
			d.freshResidual = d.residual
		}
		d.health.Residual = max(d.health.Residual, d.residual)
	}
	d.wait = d.inverse.order() / probeShare
	return repaired, removed, lost
}

// probeResidual returns max |P·K·e_probe − e_probe|.
func (d *dictionary) probeResidual() float64 {
	d.solution = d.solution.Fresh(1, d.inverse.order())
	d.inverse.mul(gemm.RowOf(d.inverse.gram.Row(d.probe)), 0, d.solution, d.threads)
	column := d.solution.Row(0)
	column[d.probe]--
	var res float64
	for _, v := range column {
		res = max(res, math.Abs(v)) // NaN if v is
	}
	return res
}

// repair recomputes P. Elements whose κ(d, ·) lie numerically in the span of the others make K
// numerically singular: repair first removes them and projects them on the others. It returns their
// numbers in the order of removal, each at the time of its removal, and the squared error of the
// projection.
func (d *dictionary) repair() (removed []int, lost float64) {
	d.health.Repairs++
	preview := d.borrowed
	if preview && d.repaired.order() > 0 { // all previews of a step repair the same
		d.keep(&d.repaired)
		return nil, 0
	}
	d.keep(&d.inverse)
	out := kernel.NewExpansion(d.f.Kernel, d.f.Dict.Dim(), d.f.Outputs)
	for tol := singular; !d.inverse.invert(d.threads); tol *= 10 {
		dependent := d.inverse.dependent(tol)
		d.health.Dropped += len(dependent)
		slices.Sort(dependent)
		// Backwards, so that the last element, which takes the place of j, is one that stays.
		for _, j := range slices.Backward(dependent) {
			out.Append(d.f.Dict.At(j), d.f.Weights(j))
			d.remove(j)
			removed = append(removed, j)
		}
	}
	if out.Order() > 0 {
		lost = d.projectOut(out)
	} else if preview {
		d.repaired.set(&d.inverse)
	}
	return removed, lost
}

// remove deletes element j; the last one takes its place.
func (d *dictionary) remove(j int) {
	d.inverse.remove(j)
	d.f.Remove(j)
}

// projectOut gives the weights of elements that have left to the dictionary, which nearly spans
// them, and returns the squared error.
func (d *dictionary) projectOut(out *kernel.Expansion) float64 {
	l, m := out.Order(), d.inverse.order()
	values, coeff := gemm.NewMatrix[float64](l, m), gemm.NewMatrix[float64](l, m)
	d.f.Dict.Block64(d.f.Kernel, out.Dict.Rows64(0, l), values, d.threads)
	// A round multiplies the error by P's residual: four are enough for any P in use. P alone
	// would leave a residual of the order of K's condition number.
	for range 4 {
		d.inverse.mul(d.residualOf(values, coeff), 1, coeff, d.threads)
	}
	res := d.residualOf(values, coeff)
	var lost float64 // a sum of norms, because the errors of the elements need not be orthogonal
	for i := range l {
		c, w := coeff.Row(i), out.Weights(i)
		for j, v := range c {
			gemm.Axpy(v, w, d.f.Weights(j))
		}
		// κ(x, x) − 2cᵀv + cᵀKc with K·c = v − res: the error of c enters squared.
		self := d.f.Kernel.Self(out.Dict.At(i)) + d.ridge
		dist2 := self - gemm.Dot(c, values.Row(i)) - gemm.Dot(c, res.Row(i))
		lost += math.Sqrt(max(dist2, 0) * sumSquares(w))
	}
	return float64(lost * lost)
}
