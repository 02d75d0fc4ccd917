package bsgd

import (
	"math"

	"polkrepro/internal/gemm"
)

// A factor is the factorization K = L D Lᵀ of a Gram matrix, with L unit lower triangular.
// Appending a row at the end and deleting any row each take O(N²).
//
// Appending computes one row of L. Deleting row p leaves the rows before p unchanged and applies
// a positive rank-one update to the rows after it. The update is backward stable (Gill, Golub,
// Murray, Saunders, "Methods for modifying matrix factorizations", 1974, method C1) and never
// lowers a pivot: a pivot that is large enough when its row is appended stays large enough. An
// explicit inverse has neither property; updated the same way, it diverges (docs/numerics.md).
//
// L is larger than a cache, and a triangular solve reads all of it. So the rows are split into a
// head and a tail, which holds the newest rows:
//
//	L = ⎡L₁₁    ⎤
//	    ⎣L₂₁ L₂₂⎦
//
// For each tail row l the factor also keeps the coefficients L₁₁⁻ᵀ·l₁, where l₁ is the row's part
// in L₂₁. With them, a column of K⁻¹ that belongs to the tail costs one read of L₂₂ and the
// coefficients. Most requested columns belong to the tail. Solves with L₁₁ remain for new rows,
// and several new rows are prepared at once. The factor remains L D Lᵀ, and no pivot is computed
// from the coefficients.
type factor struct {
	head int         // rows of L₁₁
	most int         // number of tail rows above which the oldest join the head
	row  [][]float64 // row[i] holds L_ij for j = 0 … i−1
	d    []float64   // D
	coef [][]float64 // coef[i] = L₁₁⁻ᵀ·l₁ of row head+i
	next []float64   // coef of the row that was eliminated last

	// Rows that wait to be eliminated: left holds their first head elements, row by row, and sol
	// their coefficients. Deletions update them like the tail.
	waiting   int
	left, sol []float64

	room int         // length of a row, at least the largest N, so that nothing is allocated later
	free [][]float64 // rows for reuse

	y, own, heads, betas []float64 // buffers
}

// tailMost balances two costs: each step reads the rows and the coefficients of the tail once,
// and each deletion from the head reads L₁₁ twice. On MNIST at 1,086 elements, after 10,000
// samples, half of the deleted elements are among the 30 newest and nine in ten among the 160
// newest.
const tailMost = 128

// newFactor returns an empty factor of at most n rows.
func newFactor(n int) factor {
	room := (n + 7) &^ 7 // rows begin at a cache line
	return factor{room: room, most: tailMost, next: make([]float64, room)}
}

func (f *factor) len() int { return len(f.d) }

func (f *factor) reset() {
	f.free = append(append(f.free, f.row...), f.coef...)
	f.row, f.d, f.coef = f.row[:0], f.d[:0], f.coef[:0]
	f.head, f.waiting = 0, 0
}

// vector returns a row with undefined contents.
func (f *factor) vector() []float64 {
	if n := len(f.free); n > 0 {
		v := f.free[n-1]
		f.free = f.free[:n-1]
		return v
	}
	return make([]float64, f.room)
}

// await starts a new set of n waiting rows and drops the old set. The caller fills each
// waitingRow(i) with the kernel values between its point and the head, then calls solve.
func (f *factor) await(n int) {
	f.waiting = n
	f.left, f.sol = grow(f.left, n*f.room), grow(f.sol, n*f.room)
}

// waitingRow returns the head part of waiting row i: kernel values before solve, the row of L
// after it.
func (f *factor) waitingRow(i int) []float64 { return f.left[i*f.room : i*f.room+f.head] }

func (f *factor) solve() { f.solveHead(f.waiting, 0, f.left, f.sol) }

// solveHead overwrites each of the m rows k of x, which are room apart, with l = D⁻¹·L₁₁⁻¹·k and
// writes L₁₁⁻ᵀ·l to the rows of c. The first p elements of each k are 0. Each row of L, once
// read, serves all m rows.
func (f *factor) solveHead(m, p int, x, c []float64) {
	n, ld := f.head, f.room
	for i := p + 1; i < n; i++ {
		row := f.row[i][p:i]
		for r := range m {
			v := x[r*ld+p : r*ld+i+1]
			v[i-p] -= gemm.Dot(row, v[:i-p])
		}
	}
	for r := range m {
		v := x[r*ld : r*ld+n]
		for i, d := range f.d[:n] {
			v[i] /= d
		}
		copy(c[r*ld:], v)
	}
	for i := n - 1; i > 0; i-- {
		row := f.row[i][:i]
		for r := range m {
			v := c[r*ld : r*ld+i+1]
			gemm.Axpy(-v[i], row, v[:i])
		}
	}
}

// eliminate overwrites k, the kernel values between a new point and the N rows, with the new row
// of L. It returns the new pivot: the Schur complement self − kᵀK⁻¹k, the squared distance in the
// reproducing kernel Hilbert space between the new point and the others' span.
func (f *factor) eliminate(k []float64, self float64) float64 {
	f.solveHead(1, 0, k, f.next)
	return f.eliminateTail(k, self)
}

// eliminateWaiting is eliminate for waiting row i. k need not contain the kernel values with the
// head.
func (f *factor) eliminateWaiting(i int, k []float64, self float64) float64 {
	copy(k, f.waitingRow(i))
	copy(f.next, f.sol[i*f.room:][:f.head])
	return f.eliminateTail(k, self)
}

// eliminateTail completes a row whose first head elements are already those of L.
func (f *factor) eliminateTail(k []float64, self float64) float64 {
	n := f.len()
	f.y = grow(f.y, f.room)
	y := f.y[:n] // the row before the division by D
	gemm.Product(y[:f.head], k[:f.head], f.d[:f.head])
	for i := f.head; i < n; i++ {
		y[i] = k[i] - gemm.Dot(f.row[i][:i], y[:i])
		k[i] = y[i] / f.d[i]
	}
	return self - gemm.Dot(k[:n], y)
}

// append adds the row that was eliminated last.
func (f *factor) append(row []float64, pivot float64) {
	l := f.vector()
	copy(l, row)
	f.row, f.d = append(f.row, l), append(f.d, pivot)
	f.coef = append(f.coef, f.next)
	f.next = f.vector()
}

// settle moves the oldest tail rows to the head if there are too many. It does not update waiting
// rows, which no longer fit the longer head. If rows wait, the caller must replace them by await
// before any other use of the factor.
func (f *factor) settle() {
	if len(f.coef) <= f.most {
		return
	}
	n, b := f.head, len(f.coef)-f.most/2
	// Let A be the old head and B the new rows. L₁₁ᵀ g = l is solved for g_B first. Then g_A is
	// the solution with the old head alone, less g_B times the coefficients of B.
	for i, c := range f.coef[b:] {
		g := c[n : n+b]
		copy(g, f.row[n+b+i][n:])
		for q := b - 1; q >= 0; q-- {
			gemm.Axpy(-g[q], f.row[n+q][n:n+q], g[:q])
			gemm.Axpy(-g[q], f.coef[q][:n], c[:n])
		}
	}
	f.free = append(f.free, f.coef[:b]...)
	f.coef = append(f.coef[:0], f.coef[b:]...)
	f.head += b
}

// represent overwrites the row that was eliminated last with K⁻¹k, the coefficients of
// the point over the N rows.
func (f *factor) represent(row []float64) {
	copy(row, f.next[:f.head])
	f.back(row)
}

// back solves Lᵀ g = y in place. The first head elements of y must already be multiplied by
// L₁₁⁻ᵀ.
func (f *factor) back(y []float64) {
	n := f.head
	for i := len(y) - 1; i >= n; i-- {
		gemm.Axpy(-y[i], f.row[i][n:i], y[n:i])
		gemm.Axpy(-y[i], f.coef[i-n][:n], y[:n])
	}
}

// inverseColumn writes K⁻¹ e_p to u.
func (f *factor) inverseColumn(p int, u []float64) {
	n := f.head
	clear(u)
	if p < n {
		// own = K₁₁⁻¹ e_p, and the right-hand side that e_p leaves for the tail.
		f.own = grow(f.own, f.room)[:n]
		f.y = grow(f.y, f.room)
		y := f.y[:n]
		clear(y)
		y[p] = 1
		f.solveHead(1, p, y, f.own)
		copy(u, f.own)
		for i, c := range f.coef {
			u[n+i] = -c[p]
		}
	} else {
		u[p] = 1
	}
	// L₂₂ D₂ L₂₂ᵀ is the Schur complement of K₁₁.
	for i := n; i < len(u); i++ {
		u[i] -= gemm.Dot(f.row[i][n:i], u[n:i])
	}
	for i := n; i < len(u); i++ {
		u[i] /= f.d[i]
	}
	f.back(u)
}

// delete removes row and column p of K. The caller must have called inverseColumn(p, …) just
// before, which sets own.
func (f *factor) delete(p int) {
	f.heads, f.betas = f.heads[:0], f.betas[:0]
	alpha, gone := f.d[p], f.row[p]
	copy(f.row[p:], f.row[p+1:])
	copy(f.d[p:], f.d[p+1:])
	f.row, f.d = f.row[:len(f.row)-1], f.d[:len(f.d)-1]
	f.free = append(f.free, gone)
	inHead := p < f.head
	if inHead {
		f.project(p)
		f.head--
	} else {
		i := p - f.head
		f.free = append(f.free, f.coef[i])
		f.coef = append(f.coef[:i], f.coef[i+1:]...)
	}
	// The trailing block K' becomes K' + alpha·w·wᵀ.
	for i := p; i < f.len(); i++ {
		row := f.row[i]
		alpha = f.pivot(i, turn(row[p], row[p:], f.heads, f.betas), alpha)
	}
	if inHead {
		n := f.head - p
		for i := range f.waiting {
			l := f.left[i*f.room+p:]
			turn(l[0], l, f.heads[:n], f.betas[:n])
		}
	}
}

// project removes element p from the coefficients c = K₁₁⁻¹k: c − (c_p/u_p)·u with u = K₁₁⁻¹e_p.
// This is an orthogonal projection in the norm of K₁₁, so errors in c do not grow.
func (f *factor) project(p int) {
	for _, c := range f.coef {
		f.projectRow(p, c[:f.head])
	}
	for i := range f.waiting {
		f.projectRow(p, f.sol[i*f.room:][:f.head])
	}
}

func (f *factor) projectRow(p int, c []float64) {
	gemm.Axpy(-c[p]/f.own[p], f.own, c)
	copy(c[p:], c[p+1:])
}

// pivot applies K + alpha·w·wᵀ to the pivot of row j. The argument w is the vector's element w_j.
// pivot returns the alpha for the rows after j and stores the coefficients with which turn updates
// those rows.
func (f *factor) pivot(j int, w, alpha float64) float64 {
	d := f.d[j] + float64(alpha*float64(w*w))
	f.heads, f.betas = append(f.heads, w), append(f.betas, w*alpha/d)
	alpha *= f.d[j] / d
	f.d[j] = d
	return alpha
}

// turn removes the first element of l, part of a row of L, and applies the update to the next
// len(a) elements. The argument w is the row's element of the update's vector w, less the
// contributions of the columns before l. turn returns it less the contributions of l's columns
// too.
func turn(w float64, l, a, b []float64) float64 {
	l, b = l[:len(a)+1], b[:len(a)]
	for j, h := range a {
		v := l[j+1]
		w = math.FMA(-h, v, w)
		l[j] = math.FMA(b[j], w, v)
	}
	return w
}

// multiply writes row i of L D Lᵀ to row, of length N.
func (f *factor) multiply(i int, row []float64) {
	f.y = grow(f.y, f.room)
	s := f.y[:i+1] // row i of L D
	gemm.Product(s[:i], f.row[i][:i], f.d[:i])
	s[i] = f.d[i]
	for j := range row {
		if j <= i {
			row[j] = s[j] + gemm.Dot(f.row[j][:j], s[:j])
		} else {
			row[j] = gemm.Dot(f.row[j][:i+1], s)
		}
	}
}
