package polk

import (
	"math"

	"polkrepro/internal/gemm"
	"polkrepro/internal/portable"
	"polkrepro/polk/prune"
)

// This file implements the operations of the loop of Algorithm 1 (prune.Pursue; lines 2 to 14 in
// polk/internal/literal): Cheapest, Cost and Remove. Letters in parentheses refer to the derivation in
// komp.go.

// pursuit holds the weights and costs of all M+n elements, by number, and Q = P̂ + R̂ᵀR̂.
type pursuit struct {
	weights []float64 // (M+n)×C: w
	norm2   []float64 // ‖w_j‖²
	invDiag []float64 // Q_jj
	out     []float64 // o of a removal

	oldDiag  []float64 // M+n: diagonal of P̂, zeros for the new elements
	newRows  rowFactor // R̂
	goneOld  []int     // removed dictionary elements in the order of removal
	goneCols []float64 // len(goneOld)×M: scaled column x of each
}

// startLoop sets up Q = P + RᵀR over all M+n elements (c). It forms only the diagonal of Q.
func (k *komp) startLoop() {
	n, m := k.b.n, k.dict
	total := m + n
	k.oldDiag = grow(k.oldDiag, total)
	copy(k.oldDiag, k.inverse.diag[:m])
	clear(k.oldDiag[m:])
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
}

// leastInverse returns 1/κ(x_j, x_j), below which no Q_jj can fall.
func (k *komp) leastInverse(j int) float64 { return 1 / k.diagonal(j) }

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

// Cost returns ‖w_j‖²/Q_jj.
func (k *komp) Cost(j int) float64 { return k.norm2[j] / k.invDiag[j] }

// Remove implements lines 9 to 12.
func (k *komp) Remove(j int) {
	k.spent += k.Cost(j)
	k.eliminate(j)
}

// eliminate takes element j out of P̂ and R̂ and applies (b) to the other elements.
func (k *komp) eliminate(j int) {
	k.leave(j)
	m, c := k.dict, k.f.Outputs
	k.out = grow(k.out, k.newRows.cols)
	if j < m {
		k.takeOld(k.out, j)
	} else {
		k.newRows.reflect(j) // gathers column j in the last row
		k.newRows.rows--
		copy(k.out, k.newRows.row(k.newRows.rows))
	}
	share := append(k.scratch[:0], k.weights[j*c:(j+1)*c]...) // u = w_j/o_j
	scale(1/k.out[j], share)
	for i, o := range k.out {
		if o == 0 || !k.present[i] {
			continue
		}
		norm2, w := 0.0, k.weights[i*c:(i+1)*c]
		for q, u := range share {
			v := w[q] - float64(o*u)
			w[q] = v
			norm2 += float64(v * v)
		}
		k.norm2[i] = norm2
		k.reduce(i, float64(o*o))
	}
}

// reduce reduces Q_jj by lost.
func (k *komp) reduce(j int, lost float64) {
	// A difference that keeps a tenth of Q_jj has lost one digit of it. Below that, Q_jj
	// is summed again from P̂ and R̂, which takes n multiplications and loses no digits.
	const trusted = 0.1
	left := k.invDiag[j] - lost
	if !(left > trusted*k.invDiag[j]) {
		left = k.oldDiag[j] + k.newRows.columnNorm(j)
	}
	// Q_jj is at least 1/κ(x_j, x_j), whatever rounding says.
	if left*k.diagonal(j) < 1 {
		left = k.leastInverse(j)
	}
	k.invDiag[j] = left
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
	// P̂_jj is at least 1/κ(x_j, x_j). Far below, it has lost its digits since P was last measured,
	// and o_j, by which eliminate and schurKept divide, must not be 0.
	if least := k.leastInverse(j); !(x[j] > least/2) {
		x[j] = least
	}
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
	r.data = restrideInPlace(r.data, r.rows, min(r.cols, cols), r.cols, r.rows, cols)
	r.cols = cols
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
