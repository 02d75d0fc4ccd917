package bsgd

import "polkrepro/internal/gemm"

// A factor is K = L D Lᵀ of a Gram matrix, L unit lower triangular, to which
// rows are appended at the end and from which any row is deleted, in O(N²).
//
// Appending computes one row of L. Deleting row p leaves the rows before p as
// they are and turns those after it into a positive rank-one update, which is
// backward stable (Gill, Golub, Murray, Saunders, "Methods for modifying
// matrix factorizations", 1974, method C1) and never lowers a pivot: a pivot
// that was good enough when its row came stays good enough. An explicit
// inverse has neither property; updated the same way, it diverges
// (docs/numerics.md).
type factor struct {
	col  [][]float64 // col[j] holds L_ij for i = j+1 … N−1
	d    []float64   // D
	free [][]float64 // columns to be used again
	room int         // capacity of a column: the largest N, so that nothing is allocated later
	w    []float64
}

func (f *factor) len() int { return len(f.d) }

func (f *factor) reset() {
	f.free = append(f.free, f.col...)
	f.col, f.d = f.col[:0], f.d[:0]
}

// eliminate computes, in place, the row of L that belongs to the kernel
// values k between a new point and the N rows, and returns the new pivot:
// the Schur complement self − kᵀK⁻¹k, the squared distance in the
// reproducing kernel Hilbert space between the new point and the others' span.
func (f *factor) eliminate(k []float64, self float64) float64 {
	for j, c := range f.col {
		gemm.Axpy(-k[j], c, k[j+1:])
	}
	for j, d := range f.d {
		w := k[j]
		k[j] = w / d
		self -= float64(k[j] * w)
	}
	return self
}

// append adds the row that eliminate computed.
func (f *factor) append(row []float64, pivot float64) {
	for j, v := range row {
		f.col[j] = append(f.col[j], v)
	}
	f.col = append(f.col, f.column())
	f.d = append(f.d, pivot)
}

func (f *factor) column() []float64 {
	if n := len(f.free); n > 0 {
		c := f.free[n-1]
		f.free = f.free[:n-1]
		return c[:0]
	}
	return make([]float64, 0, f.room)
}

// back solves Lᵀ g = y in place.
func (f *factor) back(y []float64) {
	for j := len(y) - 1; j >= 0; j-- {
		y[j] -= gemm.Dot(f.col[j], y[j+1:])
	}
}

// inverseColumn writes K⁻¹ e_p to u.
func (f *factor) inverseColumn(p int, u []float64) {
	clear(u)
	u[p] = 1
	for j := p; j < len(u); j++ {
		gemm.Axpy(-u[j], f.col[j], u[j+1:])
	}
	for j := p; j < len(u); j++ {
		u[j] /= f.d[j]
	}
	f.back(u)
}

// delete removes row and column p of K.
func (f *factor) delete(p int) {
	for j := range p {
		c := f.col[j]
		copy(c[p-j-1:], c[p-j:])
		f.col[j] = c[:len(c)-1]
	}
	gone := f.col[p]
	f.w = append(f.w[:0], gone...)
	alpha := f.d[p]
	copy(f.col[p:], f.col[p+1:])
	copy(f.d[p:], f.d[p+1:])
	f.col, f.d = f.col[:len(f.col)-1], f.d[:len(f.d)-1]
	f.free = append(f.free, gone)
	f.update(p, alpha, f.w)
}

// update turns the trailing block K' from row p into K' + alpha·w·wᵀ, alpha > 0.
func (f *factor) update(p int, alpha float64, w []float64) {
	for j := p; j < f.len(); j++ {
		head, c := w[0], f.col[j]
		w = w[1:]
		d := f.d[j] + float64(alpha*float64(head*head))
		beta := head * alpha / d
		alpha *= f.d[j] / d
		f.d[j] = d
		gemm.Axpy(-head, c, w)
		gemm.Axpy(beta, w, c)
	}
}

// multiply writes row i of L D Lᵀ to row, of length N.
func (f *factor) multiply(i int, row []float64) {
	clear(row)
	for j := range i {
		s := float64(f.d[j] * f.col[j][i-j-1])
		row[j] += s
		gemm.Axpy(s, f.col[j], row[j+1:])
	}
	row[i] += f.d[i]
	gemm.Axpy(f.d[i], f.col[i], row[i+1:])
}
