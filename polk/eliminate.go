package polk

import (
	"math"

	"polkrepro/internal/gemm"
	"polkrepro/internal/portable"
)

// The loop of Algorithm 1 (lines 2 to 14 in polk/literal). Letters refer to the
// derivation in komp.go.

// maxTaken bounds the removals whose columns are kept until the others get theirs.
const maxTaken = 64

// startLoop sets up Q = P + RᵀR over all M+n elements (c), of which only the
// diagonal is formed.
func (k *komp) startLoop(b *batch) {
	n, m := b.n, k.inverse.order
	total := m + n
	k.oldDiag, k.price, k.spread, k.applied = grow(k.oldDiag, total), grow(k.price, total), grow(k.spread, total), grow(k.applied, total)
	copy(k.oldDiag, k.inverse.diag[:m])
	clear(k.oldDiag[m:])
	clear(k.applied)
	k.taken, k.outs, k.shares = 0, k.outs[:0], k.shares[:0]
	k.newRows.reset(n, total)
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
		k.invDiagFloor[j] = 1 / k.inverse.self[j]
		k.invDiag[j] = max(k.invDiag[j], k.invDiagFloor[j])
	}
	for j := range total {
		k.reprice(j)
	}
}

// remove is the loop of the paper: while the cheapest removal keeps the squared error
// within eps2, it removes that element and refits the weights of the others.
//
// Invariant: price[j] is at most √(‖w_j‖²/Q_jj), and equal to it once all removals are
// applied to element j. If the least price is exact, its element is j* (line 6, by (a)).
func (k *komp) remove(b *batch, eps2 float64) {
	for {
		j := k.cheapest()
		if j < 0 || !(k.spent+k.cost(j) <= eps2) {
			return
		}
		k.spent += k.cost(j)
		k.eliminate(b, j)
	}
}

// cheapest returns j*, the first of equals, with all removals applied to it, or −1 if
// there is no element whose cost is a finite number.
func (k *komp) cheapest() int {
	for {
		best, least := -1, math.Inf(1)
		for j, v := range k.price {
			if v < least {
				best, least = j, v
			}
		}
		if best < 0 || k.applied[best] == k.taken {
			return best
		}
		k.catchUp(best)
	}
}

// cost is ‖w_j‖²/Q_jj of an element to which all removals have been applied.
func (k *komp) cost(j int) float64 { return k.norm2[j] / k.invDiag[j] }

// eliminate takes element j, to which all removals have been applied, out of Q, and gives
// its weights to the others when they are asked for.
func (k *komp) eliminate(b *batch, j int) {
	if k.taken == maxTaken {
		k.settle()
	}
	k.take(b, j)
}

// take takes element j, whose weights and Q_jj are right, out of P̂ and R̂, and
// notes what the others get: catchUp and settle give it to them.
func (k *komp) take(b *batch, j int) {
	m, c := k.inverse.order, k.f.Outputs
	k.present[j] = false
	k.price[j] = math.Inf(1)
	k.left--
	var out []float64
	if j < m {
		out = k.takeOld(j)
		k.removed = append(k.removed, j)
	} else {
		out = k.newRows.take(j)
		if sample := b.samples[j-m]; sample >= 0 { // not what a pruner has entered
			k.removed = append(k.removed, m+sample)
		}
	}
	k.outs = append(k.outs, out...)
	for _, v := range k.weights[j*c : (j+1)*c] {
		k.shares = append(k.shares, v/out[j])
	}
	k.taken++
	share := math.Sqrt(k.norm2[j]) / math.Abs(out[j])
	for i, v := range out {
		k.price[i] -= float64(share * k.spread[i] * math.Abs(v)) // (d)
	}
}

// catchUp is (b) for the weights and the diagonal of element j, for all removals
// that it has not had yet.
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

// settle is catchUp for all elements, in one product.
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

// update recomputes the norm, Q_jj and price of element j, whose weights are current,
// after removals have taken lost from Q_jj.
func (k *komp) update(j int, lost float64) {
	// A difference that keeps a thousandth of the diagonal has lost three digits
	// of it. Below that it is summed up afresh, which takes n multiplications and
	// loses none.
	const trusted = 1e-3
	if lost > 0 {
		left := k.invDiag[j] - lost
		if !(left > trusted*k.invDiag[j]) {
			left = k.oldDiag[j] + k.newRows.columnNorm(j)
		}
		// Q_jj is at least 1/κ(x_j, x_j), whatever rounding says.
		k.invDiag[j] = max(left, k.invDiagFloor[j])
		k.norm2[j] = sumSquares(k.weights[j*k.f.Outputs : (j+1)*k.f.Outputs])
	}
	k.reprice(j)
}

// reprice sets the price of element j to what it costs.
func (k *komp) reprice(j int) {
	k.spread[j] = 1 / math.Sqrt(k.invDiag[j])
	k.price[j] = math.Sqrt(k.norm2[j]) * k.spread[j]
}

// takeOld takes dictionary element j out of P̂ + R̂ᵀR̂ and returns the o that goes,
// by a reflection of R̂ and a rotation of its last row with the scaled column x of
// P̂.
func (k *komp) takeOld(j int) []float64 {
	x := k.oldColumn(j)
	for i, v := range x {
		k.oldDiag[i] -= float64(v * v)
	}
	out := grow(k.outCol, k.newRows.cols)
	k.outCol = out
	clear(out)
	copy(out, x)
	if k.newRows.rows == 0 {
		return out
	}
	k.newRows.reflect(j)
	y := k.newRows.row(k.newRows.rows - 1)
	// xxᵀ + yyᵀ stays the same under a rotation of (x, y). This one gathers element
	// j in out, whose square leaves Q; y, with a zero at j, stays behind as the last
	// row of R̂.
	h := portable.Hypot(x[j], y[j])
	cos, sin := x[j]/h, y[j]/h
	for i, v := range y {
		out[i], y[i] = float64(cos*out[i])+float64(sin*v), float64(cos*v)-float64(sin*out[i])
	}
	return out
}

// oldColumn appends to k.goneCols the scaled column x of P̂ for element j, so that
// P̂ less its square is P̂ without j. Looking left: the column of P less what each
// removed element took from it.
func (k *komp) oldColumn(j int) []float64 {
	m, past := k.inverse.order, len(k.goneOld)
	k.goneCols = extend(k.goneCols[:past*m], m)
	x := k.goneCols[past*m:]
	k.inverse.column(x, j)
	for i := range past {
		gemm.Axpy(-k.goneCols[i*m+j], k.goneCols[i*m:(i+1)*m], x)
	}
	k.goneOld = append(k.goneOld, j)
	scale(1/math.Sqrt(max(x[j], k.invDiagFloor[j])), x)
	return x
}

// A rowFactor is a matrix R of which RᵀR is meant, so that orthogonal
// transformations of its rows change nothing. Its rows become fewer.
type rowFactor struct {
	data       []float64 // rows×cols
	rows, cols int

	mirror   []float64 // u of a reflection
	mirrored []float64 // Rᵀu
}

func (r *rowFactor) reset(rows, cols int) {
	r.rows, r.cols, r.data = rows, cols, grow(r.data, rows*cols)
	clear(r.data)
}

func (r *rowFactor) row(i int) []float64 { return r.data[i*r.cols : (i+1)*r.cols] }

// widen gives the rows cols columns: new ones of zeros, or the first of them.
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

// reflect applies to the rows the Householder reflection 1 − β·u·uᵀ, β = 2/‖u‖²,
// that leaves column j in the last row alone.
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
	// u = column + norm·e_last, with the sign of the column's last element so that
	// the sum does not cancel.
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

// take reflects for column j and removes the last row, which it returns: all
// of column j is in it. The row is valid until the next reset.
func (r *rowFactor) take(j int) []float64 {
	r.reflect(j)
	r.rows--
	return r.row(r.rows)
}
