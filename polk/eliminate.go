package polk

import (
	"math"

	"polkrepro/internal/gemm"
)

// A rowSet is a matrix of n rows, kept as they are reduced.
type rowSet struct {
	a        []float64 // n×width
	n, width int
	col, z   []float64
}

func (r *rowSet) reset(n, width int) {
	r.n, r.width, r.a = n, width, grow(r.a, n*width)
	clear(r.a)
}

func (r *rowSet) row(i int) []float64 { return r.a[i*r.width : (i+1)*r.width] }

// columnNorm returns the squared norm of column j.
func (r *rowSet) columnNorm(j int) float64 {
	var s float64
	for i := range r.n {
		s += r.a[i*r.width+j] * r.a[i*r.width+j]
	}
	return s
}

// reflect applies to the rows the Householder reflection that leaves column j
// in the last row alone. RᵀR stays what it is.
func (r *rowSet) reflect(j int) {
	last := r.n - 1
	r.col = grow(r.col, r.n)
	for i := range r.col {
		r.col[i] = r.a[i*r.width+j]
	}
	rest := sumSquares(r.col[:last])
	if rest == 0 {
		return
	}
	norm := math.Copysign(math.Sqrt(rest+r.col[last]*r.col[last]), r.col[last])
	r.col[last] += norm
	beta := 2 / (rest + r.col[last]*r.col[last])
	r.z = grow(r.z, r.width)
	clear(r.z)
	for i, u := range r.col {
		if u != 0 {
			gemm.Axpy(u, r.row(i), r.z)
		}
	}
	for i, u := range r.col {
		if u != 0 {
			gemm.Axpy(-beta*u, r.z, r.row(i))
			r.a[i*r.width+j] = 0
		}
	}
	r.a[last*r.width+j] = -norm
}

// take reflects for column j and removes the last row, which it returns: all
// of column j is in it. The row is valid until the next reset.
func (r *rowSet) take(j int) []float64 {
	r.reflect(j)
	r.n--
	return r.row(r.n)
}

// factor computes L, L⁻¹ and the diagonal of S⁻¹ for the new elements, whose
// reciprocal is the squared distance of an element to the span of all others.
// It reports whether that leaves no doubt that they are independent, and if so
// whether the weights are to be refitted.
func (k *komp) factor(b *batch) bool {
	n, m := b.m, k.g.m
	k.q, k.qmin = grow(k.q, m+n), grow(k.qmin, m+n)
	k.sl = append(k.sl[:0], k.s[:n*n]...)
	cholesky(k.sl, n)
	k.linv = grow(k.linv, n*n)
	inverseLower(k.linv, k.sl, n)
	q := k.q[m:]
	clear(q)
	for r := range n {
		for i, v := range k.linv[r*n : r*n+r+1] {
			q[i] += v * v
		}
	}
	least := 1.0
	for i := range q {
		k.qmin[m+i] = 1 / b.kxx[i*n+i]
		q[i] = max(q[i], k.qmin[m+i])
		least = min(least, k.qmin[m+i]/q[i])
	}
	if !(least > independent) {
		return false
	}
	k.refits = k.refits || least < delicate
	return true
}

// prepare sets up the weights of all M+m elements.
func (k *komp) prepare(b *batch) {
	n, m, c := b.m, k.g.m, k.f.Outputs
	total := m + n
	k.w, k.w2, k.alive = grow(k.w, total*c), grow(k.w2, total), grow(k.alive, total)
	copy(k.w, k.f.W)
	copy(k.w[m*c:], b.w[:n*c])
	for j := range total {
		k.w2[j] = sumSquares(k.w[j*c : (j+1)*c])
		k.alive[j] = true
	}
	k.left = total
	k.order = k.order[:0]
	if k.refits {
		k.evaluate(b)
	}
}

// cheapest returns the element whose removal adds least to the squared error,
// the first of equals, and what it adds: ‖w_j‖²/q_j.
func cheapest(w2, q []float64, alive []bool) (best int, cost float64) {
	best, cost = -1, math.Inf(1)
	for j, on := range alive {
		if on {
			if v := w2[j] / q[j]; v < cost {
				best, cost = j, v
			}
		}
	}
	return best, cost
}

// newcomers is the state of removeNew.
type newcomers struct {
	rows  rowSet    // [R̂ over the new elements | Q], with Q·(−L⁻¹·Tᵀ) the part of R̂ over the old ones
	tt    []float64 // M×m: Tᵀ by dictionary elements
	ro    []float64 // M×m: −(L⁻¹·Tᵀ)ᵀ
	rho   []float64 // squared norms of its rows
	moved []float64 // C×m: the removals' effect on the old weights, −ro·movedᵀ
	part  []float64 // M×rows: what is left of R̂ over the old elements
	full  float64   // oldBound for all of the budget
}

// removeNew is the loop of Algorithm 1 for as long as no dictionary element
// can be the cheapest. It works on the m new elements alone and applies what
// it did to the M old ones at the end, in two matrix products: the removal of
// new elements i₁, i₂, … whose scaled columns of the inverse are o₁, o₂, …
// takes Σ_s o_s[j]·u_s from the weights w_j of an old element, with
// u_s = w_{i_s}/o_s[i_s]. Since Σ_s‖u_s‖² is the squared error r² spent on
// them, and Σ_s o_s[j]² ≤ ρ_j, what K⁻¹_jj gains from the new elements,
//
//	‖w_j‖ ≥ ‖w_j at first‖ − √ρ_j·r,   K⁻¹_jj ≤ P_jj + ρ_j,
//
// which bounds the cost of removing j from below (oldBound).
//
// It reports whether no element can be removed any more; otherwise remove goes
// on from the state that it leaves.
func (k *komp) removeNew(b *batch, eps2 float64) bool {
	n, m, c := b.m, k.g.m, k.f.Outputs
	k.enterNew(b, eps2)
	w, w2, q, alive := k.w[m*c:], k.w2[m:], k.q[m:], k.alive[m:]
	before, count, stopped := k.err2, 0, true
	for {
		i, cost := cheapest(w2, q, alive)
		if k.left <= k.least || !(k.err2+cost <= eps2) {
			break
		}
		if !(cost < k.fresh.full) && !(cost < k.oldBound(k.err2-before)) {
			stopped = false
			break
		}
		k.err2 += cost
		k.removed = append(k.removed, m+b.orig[i])
		count++
		k.left--
		alive[i] = false
		out := k.fresh.rows.take(i)
		k.downdate(i, out[:n], w, w2, q, alive, nil, &k.fresh.rows)
		k.fresh.move(out, w[i*c:(i+1)*c], i)
	}
	if m > 0 && count > 0 {
		gemm.MulABT(m, c, n, -1, k.fresh.ro, n, k.fresh.moved, n, 1, k.w, c, k.threads)
	}
	if stopped && (k.left <= k.least || !(k.err2+k.oldBound(k.err2-before) <= eps2)) {
		return true
	}
	k.enterAll(n)
	return false
}

// enterNew sets up the state of removeNew.
func (k *komp) enterNew(b *batch, eps2 float64) {
	n, m, c := b.m, k.g.m, k.f.Outputs
	f := &k.fresh
	width := 2 * n
	if m == 0 {
		width = n
	}
	f.rows.reset(n, width)
	for i := range n {
		row := f.rows.row(i)
		copy(row, k.linv[i*n:i*n+i+1])
		if m > 0 {
			row[n+i] = 1
		}
	}
	f.moved = grow(f.moved, c*n)
	clear(f.moved)
	f.rho = grow(f.rho, m)
	clear(f.rho)
	if m > 0 && n > 0 {
		f.tt, f.ro = grow(f.tt, m*n), grow(f.ro, m*n)
		transpose(f.tt, k.t, n, m)
		gemm.MulABT(m, n, n, -1, f.tt, n, k.linv, n, 0, f.ro, n, k.threads)
		for j := range m {
			f.rho[j] = gemm.Dot(f.ro[j*n:(j+1)*n], f.ro[j*n:(j+1)*n])
		}
	}
	f.full = k.oldBound(eps2 - k.err2)
}

// move notes what the removal of new element i, of weights w and with row out
// of the state's rows, takes from the old weights.
func (f *newcomers) move(out, w []float64, i int) {
	n := len(f.moved) / len(w)
	if len(out) == n { // no old elements
		return
	}
	for c, v := range w {
		axpy(v/out[i], out[n:], f.moved[c*n:(c+1)*n])
	}
}

// oldBound returns a lower bound of what the removal of a dictionary element
// can cost after new ones have been removed at a squared error of r2.
func (k *komp) oldBound(r2 float64) float64 {
	// What rounding may add to a cost that hangs on the last bit.
	const slack = 1 - 1e-9
	bound := math.Inf(1)
	for j, rho := range k.fresh.rho {
		w := max(0, math.Sqrt(k.w2[j])-math.Sqrt(rho*r2))
		bound = min(bound, w*w/(k.g.diag[j]+rho))
	}
	return slack * bound
}

// enterAll sets up the inverse Gram matrix of what removeNew left in the form
// P̂ + R̂ᵀR̂, of which only the diagonal is formed: P̂ = P over the dictionary,
// and R̂ with a row for each new element that is left.
func (k *komp) enterAll(n int) {
	m, c := k.g.m, k.f.Outputs
	total, f := m+n, &k.fresh
	k.p = grow(k.p, total)
	clear(k.p[m:])
	copy(k.p, k.g.diag[:m])
	k.r.reset(f.rows.n, total)
	rows := f.rows.n
	if m > 0 && rows > 0 {
		f.part = grow(f.part, m*rows)
		gemm.MulABT(m, rows, n, 1, f.ro, n, f.rows.a[n:], f.rows.width, 0, f.part, rows, k.threads)
	}
	for i := range rows {
		row := k.r.row(i)
		for j := range m {
			row[j] = f.part[j*rows+i]
		}
		copy(row[m:], f.rows.row(i)[:n])
	}
	for j := range m {
		k.w2[j] = sumSquares(k.w[j*c : (j+1)*c])
		k.qmin[j] = 1 / k.g.self[j]
		k.q[j] = max(k.p[j]+k.r.columnNorm(j), k.qmin[j])
	}
}

// remove is the loop of Algorithm 1: while the cheapest removal keeps the
// squared error r² + ‖w_j‖²/q_j within eps2, it removes that element and
// refits the weights of the others.
func (k *komp) remove(b *batch, eps2 float64) {
	for {
		j, cost := cheapest(k.w2, k.q, k.alive)
		if k.left <= k.least || !(k.err2+cost <= eps2) {
			return
		}
		k.err2 += cost
		k.eliminate(b, j)
	}
}

// eliminate takes element j out of the inverse and gives its weights to the
// others.
func (k *komp) eliminate(b *batch, j int) {
	m := k.g.m
	k.alive[j] = false
	k.left--
	var out []float64
	if j < m {
		out = k.eliminateOld(j)
		k.removed = append(k.removed, j)
	} else {
		out = k.r.take(j)
		k.removed = append(k.removed, m+b.orig[j-m])
	}
	k.downdate(j, out, k.w, k.w2, k.q, k.alive, k.p, &k.r)
}

// eliminateOld takes dictionary element j out of P̂ + R̂ᵀR̂ and returns the
// scaled column that goes: with x the scaled column of P̂ and y the row of R̂
// that holds all of column j, a rotation of the two leaves column j in one of
// them. Orthogonal throughout, because that stays accurate when elements
// nearly depend on each other: subtracting columns of the inverse would cancel
// numbers as large as its condition.
func (k *komp) eliminateOld(j int) []float64 {
	x := k.column(j)
	for i, v := range x {
		k.p[i] -= v * v
	}
	k.out = grow(k.out, k.r.width)
	clear(k.out)
	copy(k.out, x)
	if k.r.n == 0 {
		return k.out
	}
	k.r.reflect(j)
	y := k.r.row(k.r.n - 1)
	h := math.Hypot(x[j], y[j])
	cos, sin := x[j]/h, y[j]/h
	for i, v := range y {
		k.out[i], y[i] = cos*k.out[i]+sin*v, cos*v-sin*k.out[i]
	}
	return k.out
}

// column appends to k.v column j of P̂, scaled so that P̂ less its square is
// P̂ without j. Looking left: the column of P less what each removed element
// took from it.
func (k *komp) column(j int) []float64 {
	m, past := k.g.m, len(k.order)
	k.v = extend(k.v[:past*m], m)
	v := k.v[past*m:]
	k.g.column(v, j)
	for i := range past {
		gemm.Axpy(-k.v[i*m+j], k.v[i*m:(i+1)*m], v)
	}
	k.order = append(k.order, j)
	scale(1/math.Sqrt(max(v[j], k.qmin[j])), v)
	return v
}

// downdate takes removed element j, whose scaled column of the inverse is
// out, out of the weights w with squared norms w2 and of the diagonal q. A
// diagonal element that loses nearly all of itself is summed up anew, from p
// (nil for zeros) and the rows r.
func (k *komp) downdate(j int, out, w, w2, q []float64, alive []bool, p []float64, r *rowSet) {
	const trusted = 1e-3
	c := k.f.Outputs
	wj := w[j*c : (j+1)*c]
	inv := 1 / out[j]
	least := k.qmin[len(k.qmin)-len(q):]
	for i, v := range out {
		if v == 0 || !alive[i] {
			continue
		}
		left := q[i] - v*v
		if !(left > trusted*q[i]) {
			left = r.columnNorm(i)
			if p != nil {
				left += p[i]
			}
		}
		q[i] = max(left, least[i])
		wi := w[i*c : (i+1)*c]
		axpy(-v*inv, wj, wi)
		w2[i] = sumSquares(wi)
	}
}
