package polk

import (
	"math"

	"polkrepro/internal/gemm"
	"polkrepro/internal/portable"
	"polkrepro/polk/prune"
)

// This file implements the operations of the loop of Algorithm 1 (prune.Pursue; lines 2 to 14 in
// polk/literal): Cheapest, Cost and Remove. Letters in parentheses refer to the derivation in
// komp.go.

// costs holds the weights and costs of all M+n elements, by number.
type costs struct {
	weights []float64 // (M+n)×C: w
	norm2   []float64 // ‖w_j‖²
	invDiag []float64 // Q_jj
	price   []float64 // lower bound of √(‖w_j‖²/Q_jj); +Inf for a removed element
	spread  []float64 // 1/√Q_jj at the last update of element j, so at most the current value
	applied []int     // number of deferred removals applied to the weights and Q_jj of element j
}

// deferred holds the removals that are not yet applied to all elements.
type deferred struct {
	taken  int       // number of deferred removals
	outs   []float64 // taken×(M+n): o of each removal, 0 where it is applied
	outsT  []float64 // (M+n)×taken: transposed
	shares []float64 // taken×C: w_j/o_j of each removal
}

// maxTaken bounds the number of deferred removals.
const maxTaken = 64

// loopInverse is Q = P̂ + R̂ᵀR̂.
type loopInverse struct {
	oldDiag  []float64 // M+n: diagonal of P̂, zeros for the new elements
	newRows  rowFactor // R̂
	goneOld  []int     // removed dictionary elements in the order of removal
	goneCols []float64 // len(goneOld)×M: scaled column x of each
}

// startLoop sets up Q = P + RᵀR over all M+n elements (c). It forms only the diagonal of Q.
func (k *komp) startLoop() {
	n, m := k.b.n, k.dict
	total := m + n
	k.oldDiag, k.price, k.spread, k.applied = grow(k.oldDiag, total), grow(k.price, total), grow(k.spread, total), grow(k.applied, total)
	copy(k.oldDiag, k.inverse.diag[:m])
	clear(k.oldDiag[m:])
	clear(k.applied)
	k.taken, k.outs, k.shares = 0, k.outs[:0], k.shares[:0]
	k.goneOld = k.goneOld[:0]
	r := &k.newRows
	r.rows, r.cols, r.data = n, total, grow(r.data, n*total)
	clear(r.data)
	k.scratch = grow(k.scratch, m)
	copy(k.invDiag[:m], k.inverse.diag)
	// R = L⁻¹·[−Tᵀ | 1]
	gemm.MulAB(n, m, n, -1, k.cholInv, n, k.coeff, m, 0, k.newRows.data, total, k.threads)
	for i := range n {
		row := k.newRows.row(i)
		copy(row[m:], k.cholInv[i*n:(i+1)*n])
		gemm.Product(k.scratch, row[:m], row[:m])
		gemm.Axpy(1, k.scratch, k.invDiag[:m])
	}
	for j := range m {
		k.invDiag[j] = max(k.invDiag[j], k.leastInverse(j))
	}
	for j := range total {
		k.reprice(j)
	}
}

// leastInverse returns 1/κ(x_j, x_j), below which no Q_jj can fall.
func (k *komp) leastInverse(j int) float64 { return 1 / k.diagonal(j) }

// Cheapest returns j* (line 6, by (a)), the first of equals, and applies all removals to it.
//
// Invariant: price[j] is at most √(‖w_j‖²/Q_jj), and equal to it once all removals are applied
// to element j. If the least price is exact, its element is j*.
func (k *komp) Cheapest() int {
	for {
		best, least := -1, math.Inf(1)
		for j, v := range k.price {
			if v < least {
				best, least = j, v
			}
		}
		switch {
		case best < 0: // no cost is a finite number
			return prune.Least(k, k.Cost)
		case k.applied[best] == k.taken:
			return best
		}
		k.catchUp(best)
	}
}

// current applies all removals to element j and returns j.
func (k *komp) current(j int) int {
	if k.present[j] && k.applied[j] < k.taken {
		k.catchUp(j)
	}
	return j
}

// Cost returns ‖w_j‖²/Q_jj.
func (k *komp) Cost(j int) float64 { return k.norm2[k.current(j)] / k.invDiag[j] }

// Remove implements lines 9 to 12.
func (k *komp) Remove(j int) {
	k.spent += k.Cost(j)
	k.eliminate(j)
}

// eliminate takes element j out of P̂ and R̂; all earlier removals must have been applied to j.
// It records the removal for the other elements: catchUp and settle apply it to them.
func (k *komp) eliminate(j int) {
	if k.taken == maxTaken {
		k.settle()
	}
	k.leave(j)
	k.price[j] = math.Inf(1)
	m, c, past := k.dict, k.f.Outputs, len(k.outs)
	k.outs = extend(k.outs, k.newRows.cols)
	out := k.outs[past:]
	if j < m {
		k.takeOld(out, j)
		k.removed = append(k.removed, j)
	} else {
		k.newRows.reflect(j) // gathers column j in the last row
		k.newRows.rows--
		copy(out, k.newRows.row(k.newRows.rows))
		if sample := k.Sample(j); sample >= 0 { // not a point that a pruner has entered
			k.removed = append(k.removed, m+sample)
		}
	}
	for _, v := range k.weights[j*c : (j+1)*c] {
		k.shares = append(k.shares, v/out[j])
	}
	k.taken++
	share := math.Sqrt(k.norm2[j]) / math.Abs(out[j])
	for i, v := range out {
		k.price[i] -= float64(share * k.spread[i] * math.Abs(v)) // (d)
	}
}

// catchUp applies (b) to the weights and Q_jj of element j, for all removals not yet applied to
// it.
func (k *komp) catchUp(j int) {
	c, total := k.f.Outputs, k.newRows.cols
	w := k.weights[j*c : (j+1)*c]
	var lost float64
	for s := k.applied[j]; s < k.taken; s++ {
		v := k.outs[s*total+j]
		k.outs[s*total+j] = 0 // settle must not apply it again
		lost += float64(v * v)
		axpy(-v, k.shares[s*c:(s+1)*c], w)
	}
	k.applied[j] = k.taken
	k.update(j, lost)
}

// settle is catchUp for all elements, in one matrix product.
func (k *komp) settle() {
	c, total, t := k.f.Outputs, k.newRows.cols, k.taken
	if t == 0 {
		return
	}
	k.outsT = grow(k.outsT, total*t)
	gemm.Transpose(t, total, k.outs, total, k.outsT, t)
	gemm.MulAB(total, c, t, -1, k.outsT, t, k.shares, c, 1, k.weights, c, k.threads)
	for j, on := range k.present {
		if on {
			k.update(j, sumSquares(k.outsT[j*t:(j+1)*t]))
		}
	}
	clear(k.applied)
	k.taken, k.outs, k.shares = 0, k.outs[:0], k.shares[:0]
}

// update recomputes the norm, Q_jj and price of element j, whose weights are current, after
// removals have reduced Q_jj by lost.
func (k *komp) update(j int, lost float64) {
	// A difference that keeps a thousandth of Q_jj has lost three digits of it. Below that, Q_jj
	// is summed again from P̂ and R̂, which takes n multiplications and loses no digits.
	const trusted = 1e-3
	if lost > 0 {
		left := k.invDiag[j] - lost
		if !(left > trusted*k.invDiag[j]) {
			left = k.oldDiag[j] + k.newRows.columnNorm(j)
		}
		// Q_jj is at least 1/κ(x_j, x_j), whatever rounding says.
		k.invDiag[j] = max(left, k.leastInverse(j))
		k.norm2[j] = sumSquares(k.weights[j*k.f.Outputs : (j+1)*k.f.Outputs])
	}
	k.reprice(j)
}

// reprice makes the price of element j exact.
func (k *komp) reprice(j int) {
	k.spread[j] = 1 / math.Sqrt(k.invDiag[j])
	k.price[j] = math.Sqrt(k.norm2[j]) * k.spread[j]
}

// takeOld takes dictionary element j out of P̂ + R̂ᵀR̂ and writes o of (b) to out. It reflects
// R̂ and rotates the last row of R̂ with x, the scaled column j of P̂. x becomes a new row of
// goneCols: P̂ − x·xᵀ is P̂ without j.
func (k *komp) takeOld(out []float64, j int) {
	m, past := k.dict, len(k.goneOld)*k.dict
	k.goneCols = extend(k.goneCols[:past], m)
	x := k.goneCols[past:]
	k.oldColumn(x, j)
	k.goneOld = append(k.goneOld, j)
	scale(1/math.Sqrt(max(x[j], k.leastInverse(j))), x)
	for i, v := range x {
		k.oldDiag[i] -= float64(v * v)
	}
	clear(out)
	copy(out, x)
	if k.newRows.rows == 0 {
		return
	}
	k.newRows.reflect(j)
	y := k.newRows.row(k.newRows.rows - 1)
	// xxᵀ + yyᵀ stays the same under a rotation of (x, y). This rotation gathers column j in
	// out, and out·outᵀ leaves Q. y, now with a zero at j, stays as the last row of R̂.
	h := portable.Hypot(x[j], y[j])
	cos, sin := x[j]/h, y[j]/h
	for i, v := range y {
		out[i], y[i] = float64(cos*out[i])+float64(sin*v), float64(cos*v)-float64(sin*out[i])
	}
}

// oldColumn writes column j of P̂ to x, of length M. It is left-looking: the column of P minus
// the contribution of each removed element.
func (k *komp) oldColumn(x []float64, j int) {
	k.inverse.column(x, j)
	for i := range k.goneOld {
		gone := k.goneCol(i)
		gemm.Axpy(-gone[j], gone, x)
	}
}

// goneCol returns the scaled column x of the ith dictionary element that was removed.
func (k *komp) goneCol(i int) []float64 { return k.goneCols[i*k.dict : (i+1)*k.dict] }

// A rowFactor is a matrix R that stands for RᵀR, so orthogonal transformations of its rows
// change nothing. Each removal of a new element takes one of its rows.
type rowFactor struct {
	data       []float64 // rows×cols
	rows, cols int

	mirror   []float64 // u of a reflection
	mirrored []float64 // Rᵀu
}

func (r *rowFactor) row(i int) []float64 { return r.data[i*r.cols : (i+1)*r.cols] }

// widen changes the number of columns to cols: it appends zero columns or keeps the first cols.
func (r *rowFactor) widen(cols int) {
	was := r.cols
	if cols < was {
		for i := range r.rows {
			copy(r.data[i*cols:(i+1)*cols], r.data[i*was:])
		}
	} else {
		r.data = extend(r.data[:r.rows*was], r.rows*(cols-was))
		for i := r.rows - 1; i >= 0; i-- {
			copy(r.data[i*cols:], r.data[i*was:(i+1)*was])
			clear(r.data[i*cols+was : (i+1)*cols])
		}
	}
	r.cols, r.data = cols, r.data[:r.rows*cols]
}

// columnNorm returns the squared norm of column j, (RᵀR)_jj.
func (r *rowFactor) columnNorm(j int) float64 {
	var s float64
	for i := range r.rows {
		s += float64(r.data[i*r.cols+j] * r.data[i*r.cols+j])
	}
	return s
}

// reflect applies to the rows the Householder reflection 1 − β·u·uᵀ, β = 2/‖u‖², that makes
// column j zero except in the last row.
func (r *rowFactor) reflect(j int) {
	last := r.rows - 1
	r.mirror = grow(r.mirror, r.rows)
	u := r.mirror
	for i := range u {
		u[i] = r.data[i*r.cols+j]
	}
	rest := sumSquares(u[:last])
	if rest == 0 {
		return
	}
	// u = column + norm·e_last. norm has the sign of the column's last element, so that the sum
	// does not cancel.
	norm := math.Copysign(math.Sqrt(rest+float64(u[last]*u[last])), u[last])
	u[last] += norm
	beta := 2 / (rest + float64(u[last]*u[last]))
	r.mirrored = grow(r.mirrored, r.cols)
	clear(r.mirrored)
	for i, v := range u {
		if v != 0 {
			gemm.Axpy(v, r.row(i), r.mirrored)
		}
	}
	for i, v := range u {
		if v != 0 {
			gemm.Axpy(-beta*v, r.mirrored, r.row(i))
		}
	}
	r.data[last*r.cols+j] = -norm
}
