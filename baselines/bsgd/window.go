package bsgd

import "polkrepro/internal/gemm"

// windowRows is the number of samples whose kernel values are computed in one matrix product. A
// single row is bound by reading the dictionary from memory; 32 rows share each read of it.
const windowRows = 32

// A window holds κ(x_i, d_j) in float32 for the next samples of a call to Step. The samples are
// still processed one at a time: when an element enters or leaves the dictionary, its column is
// computed or dropped.
type window struct {
	rows   int       // samples in the window
	next   int       // samples before this one are done
	stride int       // row length of k
	x      []float32 // rows×dim
	k      []float32 // windowRows×stride
	row    []float64 // the current sample's kernel values, as take returned them
}

// load computes the kernel values of n samples and returns the number of kernel evaluations.
func (w *window) load(m *model, n int, x []float32) int64 {
	w.k = grow(w.k, windowRows*w.stride)
	w.rows, w.next, w.x = n, 0, x
	m.dict.Block32(m.kernel, gemm.MatrixOf(n, m.dict.Dim(), x), gemm.Strided(n, m.order(), w.stride, w.k), m.threads)
	return int64(n) * int64(m.order())
}

// take advances to the next sample and returns its kernel values over the dictionary of length
// order, valid until the next call.
func (w *window) take(order int) []float64 {
	w.next++
	return w.at(w.next-1, order)
}

// at returns the kernel values of sample i, valid until the next call of at or take.
func (w *window) at(i, order int) []float64 {
	k := w.k[i*w.stride:][:order]
	w.row = grow(w.row, w.stride)[:order]
	for j, v := range k {
		w.row[j] = float64(v)
	}
	return w.row
}

// appended fills the column of the model's last element, x, for the remaining samples and returns
// their number. It evaluates the values one by one: they are few, and a matrix product would
// first have to pack x.
func (w *window) appended(m *model, x []float32) int64 {
	last := m.order() - 1
	for i := w.next; i < w.rows; i++ {
		w.k[i*w.stride+last] = float32(m.kernel.Eval(x, w.x[i*len(x):(i+1)*len(x)]))
	}
	return int64(max(0, w.rows-w.next))
}

// removed moves column last to column j.
func (w *window) removed(j, last int) {
	for i := w.next; i < w.rows; i++ {
		w.k[i*w.stride+j] = w.k[i*w.stride+last]
	}
}
