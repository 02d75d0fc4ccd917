package gemm

import "slices"

// Panels is a growable set of rows, kept in the packed form that the matrix-product
// kernels read, together with their squared norms. Methods that only read (Len,
// MulABT, Gaussian, NormSq and MaxNormSq) may run concurrently.
type Panels[T Float] struct {
	kr   *kernels[T]
	dim  int
	n    int
	data []T // panels of nr rows, each dim×nr, element q of row i at q·nr + i
	norm []T // squared norms, summed in float64
	most T   // the largest of norm
}

// NewPanels returns an empty set of rows of length dim. It panics if dim is
// negative.
func NewPanels[T Float](dim int) *Panels[T] {
	if dim < 0 {
		panic("gemm: negative dimension")
	}
	return &Panels[T]{kr: kernelsOf[T](), dim: dim}
}

// Len returns the number of rows.
func (p *Panels[T]) Len() int { return p.n }

// slot returns the panel of row i, beginning at the row's first element; its
// elements are nr apart.
func (p *Panels[T]) slot(i int) []T {
	nr := p.kr.nr
	at := i / nr * nr * p.dim
	return p.data[at+i%nr : at+nr*p.dim]
}

// Append adds a row, which is copied. It panics if len(row) is not the
// dimension.
func (p *Panels[T]) Append(row []T) {
	if len(row) != p.dim {
		panic("gemm: row length is not the dimension")
	}
	if p.n%p.kr.nr == 0 { // a panel of zeros: its unused lanes enter the kernels, though not the results
		p.data = append(p.data, make([]T, p.kr.nr*p.dim)...)
	}
	p.n++
	norm := T(p.kr.sumSquares(row))
	p.norm = append(p.norm, norm)
	p.most = max(p.most, norm)
	if p.dim == 0 {
		return
	}
	s := p.slot(p.n - 1)
	for q, v := range row {
		s[q*p.kr.nr] = v
	}
}

// Reserve makes room for n more rows. It copies the existing rows at most once.
func (p *Panels[T]) Reserve(n int) {
	nr := p.kr.nr
	p.data = slices.Grow(p.data, (p.n+n+nr-1)/nr*nr*p.dim-len(p.data))
	p.norm = slices.Grow(p.norm, n)
}

// Set makes p a copy of q and keeps its memory.
func (p *Panels[T]) Set(q *Panels[T]) {
	data, norm := append(p.data[:0], q.data...), append(p.norm[:0], q.norm...)
	*p = *q
	p.data, p.norm = data, norm
}

// Remove deletes row i; the last row takes its place. It panics if there is no
// row i.
func (p *Panels[T]) Remove(i int) {
	if uint(i) >= uint(p.n) {
		panic("gemm: row index out of range")
	}
	last, nr := p.n-1, p.kr.nr
	removed := p.norm[i]
	p.norm[i] = p.norm[last]
	p.norm = p.norm[:last]
	if !(removed < p.most) {
		p.most = 0
		for _, v := range p.norm {
			p.most = max(p.most, v)
		}
	}
	if p.dim > 0 {
		dst, src := p.slot(i), p.slot(last)
		for q := 0; q < p.dim*nr; q += nr {
			dst[q], src[q] = src[q], 0 // 0 if i is the last row
		}
	}
	p.n = last
	if last%nr == 0 {
		p.data = p.data[:last*p.dim]
	}
}

// Reset removes all rows and keeps the memory.
func (p *Panels[T]) Reset() {
	p.n = 0
	p.data = p.data[:0]
	p.norm = p.norm[:0]
	p.most = 0
}

// NormSq returns ‖p_i‖², rounded from a sum in float64. It panics if there is
// no row i.
func (p *Panels[T]) NormSq(i int) T { return p.norm[i] }

// MaxNormSq returns the largest ‖p_i‖², or 0 for an empty set.
func (p *Panels[T]) MaxNormSq() T { return p.most }

// NormSq returns ‖x‖² with the same bits as Panels.NormSq for a row x.
func NormSq[T Float](x []T) T { return T(kernelsOf[T]().sumSquares(x)) }

// MulABT computes C ← A·Pᵀ for A of m×dim and C of m×Len, on at most threads goroutines.
func (p *Panels[T]) MulABT(a, c Matrix[T], threads int) {
	if t := p.task(a, c, threads); t != nil {
		t.run(threads)
	}
}

// Gaussian computes C_ij ← exp(−gamma·max(0, ‖a_i‖² + ‖p_j‖² − 2 a_i·p_j)) for A of m×dim and C
// of m×Len, on at most threads goroutines. No value exceeds 1; NaN stays NaN, and an infinite
// distance gives 0. It returns the largest ‖a_i‖² and panics if gamma is negative.
func (p *Panels[T]) Gaussian(a Matrix[T], gamma T, c Matrix[T], threads int) (largest T) {
	if gamma < 0 {
		panic("gemm: negative gamma")
	}
	t := p.task(a, c, threads)
	if t == nil {
		return 0
	}
	t.gaussian, t.gamma, t.nb = true, gamma, p.norm
	t.na = resize(t.na, a.rows)
	for i := range t.na {
		t.na[i] = T(p.kr.sumSquares(a.Row(i)))
		largest = max(largest, t.na[i])
	}
	t.run(threads)
	return largest
}

// task prepares C ← A·Pᵀ, or returns nil if C is empty.
func (p *Panels[T]) task(a, c Matrix[T], threads int) *task[T] {
	checkShapes(a.cols == p.dim && a.rows == c.rows && c.cols == p.n)
	if a.rows == 0 || p.n == 0 {
		return nil
	}
	t := newTask(p.kr)
	t.m, t.n, t.k = a.rows, p.n, p.dim
	t.alpha, t.beta = 1, 0
	t.a, t.c = a, c
	t.packed = p.data
	t.planPanels(threads)
	return t
}
