package polk

import (
	"math"

	"polkrepro/internal/gemm"
	"polkrepro/internal/portable"
)

// The loop of Algorithm 1 (lines 2 to 14 in algorithm1.go). Letters refer to the
// derivation in komp.go.

// newStage is the state of removeNew.
type newStage struct {
	// [R̂ over the new elements | U], with U the product of all reflections: the
	// part of R̂ over the dictionary is U·(−L⁻¹·Tᵀ), and is not formed until
	// removeAny needs it.
	rows       rowFactor
	coeffT     []float64 // M×n: T
	oldAtStart []float64 // M×n: (−L⁻¹·Tᵀ)ᵀ
	oldGain    []float64 // ρ_k of (e), squared norms of its rows
	moved      []float64 // C×n: the sum of (d) is oldAtStart·movedᵀ
	oldNow     []float64 // M×rows: what is left of R̂ over the dictionary, transposed
	fullBound  float64   // oldBound for all of the budget
}

// cheapest returns the element j* whose removal adds least to the squared error,
// the first of equals, and what it adds: ‖w_j‖²/Q_jj (line 6, by (a)).
func cheapest(norm2, invDiag []float64, present []bool) (best int, cost float64) {
	cost = math.Inf(1)
	for j, on := range present {
		if on {
			if v := norm2[j] / invDiag[j]; v < cost {
				best, cost = j, v
			}
		}
	}
	return best, cost
}

// removeNew removes new elements for as long as the cheapest of all is a new one,
// which it knows from the bound (e), and gives the dictionary's weights all of
// their changes at the end (d). It reports whether no element can be removed any
// more; otherwise removeAny goes on from the state that it leaves.
func (k *komp) removeNew(b *batch, eps2 float64) bool {
	n, m, c := b.n, k.inverse.order, k.f.Outputs
	s := &k.newStage
	k.enterNewStage(b, eps2)
	weights, norm2, invDiag, present := k.weights[m*c:], k.norm2[m:], k.invDiag[m:], k.present[m:]
	before, count, stopped := k.spent, 0, true
	// Invariant: weights, norm2 and invDiag are right for the new elements that
	// are left; for the dictionary they are those of the start, and s.moved has
	// what is missing.
	for {
		i, cost := cheapest(norm2, invDiag, present)
		if k.left <= k.minOrder || !(k.spent+cost <= eps2) {
			break
		}
		// The bound for all of the budget is the lowest there can be: most of the
		// time it settles the matter without a pass over the dictionary.
		if !(cost < s.fullBound) && !(cost < k.oldBound(k.spent-before)) {
			stopped = false
			break
		}
		k.spent += cost
		k.removed = append(k.removed, m+b.samples[i])
		count++
		k.left--
		present[i] = false
		out := s.rows.take(i)
		k.downdate(i, out[:n], weights, norm2, invDiag, present, nil, &s.rows)
		// (d): w_D −= o_D·w_i/o_i. o over the dictionary is oldAtStart times the row of U
		// in out[n:]; only that row's share is summed now, and one product at the end
		// applies all of them.
		for q, v := range weights[i*c : (i+1)*c] {
			axpy(v/out[i], out[n:], s.moved[q*n:(q+1)*n])
		}
	}
	if count > 0 {
		gemm.MulABT(m, c, n, -1, s.oldAtStart, n, s.moved, n, 1, k.weights, c, k.threads)
	}
	if stopped && (k.left <= k.minOrder || !(k.spent+k.oldBound(k.spent-before) <= eps2)) {
		return true
	}
	k.enterAll(n)
	return false
}

// enterNewStage sets up the state of removeNew.
func (k *komp) enterNewStage(b *batch, eps2 float64) {
	n, m, c := b.n, k.inverse.order, k.f.Outputs
	s := &k.newStage
	cols := 2 * n
	if m == 0 {
		cols = n // no dictionary to apply U to
	}
	s.rows.reset(n, cols)
	for i := range n {
		row := s.rows.row(i)
		copy(row, k.cholInv[i*n:i*n+i+1])
		if m > 0 {
			row[n+i] = 1
		}
	}
	s.moved = grow(s.moved, c*n)
	clear(s.moved)
	s.oldGain = grow(s.oldGain, m)
	s.coeffT, s.oldAtStart = grow(s.coeffT, m*n), grow(s.oldAtStart, m*n)
	transpose(s.coeffT, k.coeff, n, m)
	gemm.MulABT(m, n, n, -1, s.coeffT, n, k.cholInv, n, 0, s.oldAtStart, n, k.threads)
	for j := range m {
		row := s.oldAtStart[j*n : (j+1)*n]
		s.oldGain[j] = gemm.Dot(row, row)
	}
	s.fullBound = k.oldBound(eps2 - k.spent)
}

// oldBound returns a lower bound (e) of what the removal of a dictionary element
// can cost after new ones have been removed at a squared error of r2.
func (k *komp) oldBound(r2 float64) float64 {
	// What rounding may add to a cost that hangs on the last bit.
	const slack = 1 - 1e-9
	bound := math.Inf(1)
	for j, gain := range k.newStage.oldGain {
		// (e): the weight moves by at most √(ρ·r²), the diagonal rises by at most ρ.
		norm := max(0, math.Sqrt(k.norm2[j])-math.Sqrt(gain*r2))
		bound = min(bound, norm*norm/(k.inverse.diag[j]+gain))
	}
	return float64(slack * bound)
}

// enterAll sets up Q = P̂ + R̂ᵀR̂ over all elements that removeNew has left, of
// which only the diagonal is formed.
func (k *komp) enterAll(n int) {
	m, c := k.inverse.order, k.f.Outputs
	total, s := m+n, &k.newStage
	k.oldDiag = grow(k.oldDiag, total)
	clear(k.oldDiag[m:])
	copy(k.oldDiag, k.inverse.diag[:m])
	rows := s.rows.rows
	k.newRows.reset(rows, total)
	if m > 0 {
		// The rows of U that are left, times −L⁻¹·Tᵀ.
		s.oldNow = grow(s.oldNow, m*rows)
		gemm.MulABT(m, rows, n, 1, s.oldAtStart, n, s.rows.data[n:], s.rows.cols, 0, s.oldNow, rows, k.threads)
	}
	for i := range rows {
		row := k.newRows.row(i)
		for j := range m {
			row[j] = s.oldNow[j*rows+i]
		}
		copy(row[m:], s.rows.row(i)[:n])
	}
	for j := range m {
		k.norm2[j] = sumSquares(k.weights[j*c : (j+1)*c])
		k.invDiagFloor[j] = 1 / k.inverse.self[j]
		k.invDiag[j] = max(k.oldDiag[j]+k.newRows.columnNorm(j), k.invDiagFloor[j])
	}
}

// removeAny is the loop over all elements: while the cheapest removal keeps the
// squared error within eps2, it removes that element and refits the weights of
// the others.
func (k *komp) removeAny(b *batch, eps2 float64) {
	for {
		j, cost := cheapest(k.norm2, k.invDiag, k.present)
		if k.left <= k.minOrder || !(k.spent+cost <= eps2) {
			return
		}
		k.spent += cost
		k.eliminate(b, j)
	}
}

// eliminate takes element j out of Q and gives its weights to the others.
func (k *komp) eliminate(b *batch, j int) {
	m := k.inverse.order
	k.present[j] = false
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
	k.downdate(j, out, k.weights, k.norm2, k.invDiag, k.present, k.oldDiag, &k.newRows)
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

// downdate is (b) for weights and diagonal: it takes removed element j, whose
// scaled column of the inverse is out, out of the weights with squared norms norm2
// and out of the diagonal invDiag, which is that of oldDiag (nil for zeros) plus
// rowsᵀ·rows.
func (k *komp) downdate(j int, out, weights, norm2, invDiag []float64, present []bool, oldDiag []float64, rows *rowFactor) {
	// A difference that keeps a thousandth of the diagonal has lost three digits
	// of it. Below that it is summed up afresh, which takes n multiplications and
	// loses none.
	const trusted = 1e-3
	c := k.f.Outputs
	wj := weights[j*c : (j+1)*c]
	inv := 1 / out[j]
	// Q_ii is at least 1/κ(x_i, x_i), whatever rounding says.
	floor := k.invDiagFloor[len(k.invDiagFloor)-len(invDiag):]
	for i, v := range out {
		if v == 0 || !present[i] {
			continue
		}
		left := invDiag[i] - float64(v*v)
		if !(left > trusted*invDiag[i]) {
			left = rows.columnNorm(i)
			if oldDiag != nil {
				left += oldDiag[i]
			}
		}
		invDiag[i] = max(left, floor[i])
		wi := weights[i*c : (i+1)*c]
		axpy(-v*inv, wj, wi)
		norm2[i] = sumSquares(wi)
	}
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
