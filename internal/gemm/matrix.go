package gemm

import "slices"

// A Matrix is a view of a row-major matrix: row i begins stride elements after row i−1. It is
// passed by value and shares its elements with all other views of them. The zero value has no
// rows and no columns. Only the functions and methods of this package make a Matrix, and they
// panic if its slice is too short, so that a Matrix always has all of its elements.
//
// Methods for inner loops have pointer receivers: a Matrix is too large for registers, and a copy for
// each row made small steps a tenth slower.
type Matrix[T Float] struct {
	rows, cols, stride int
	data               []T // from the first element on
}

// NewMatrix returns a matrix of zeros.
func NewMatrix[T Float](rows, cols int) Matrix[T] {
	return Matrix[T]{rows, cols, cols, make([]T, rows*cols)}
}

// MatrixOf returns data as a matrix whose rows follow each other without a gap.
func MatrixOf[T Float](rows, cols int, data []T) Matrix[T] { return Strided(rows, cols, cols, data) }

// RowOf returns v as a matrix of one row.
func RowOf[T Float](v []T) Matrix[T] { return Matrix[T]{1, len(v), len(v), v} }

// Strided returns data as a matrix whose rows begin stride elements apart.
func Strided[T Float](rows, cols, stride int, data []T) Matrix[T] {
	switch {
	case rows < 0 || cols < 0:
		panic("gemm: negative size of a matrix")
	case stride < cols:
		panic("gemm: row stride less than the row length")
	case rows > 0 && len(data) < (rows-1)*stride+cols:
		panic("gemm: slice too short for its matrix")
	}
	return Matrix[T]{rows, cols, stride, data}
}

// Dims returns the numbers of rows and columns.
func (m *Matrix[T]) Dims() (rows, cols int) { return m.rows, m.cols }

// Len returns the number of rows.
func (m *Matrix[T]) Len() int { return m.rows }

// At returns element j of row i, and Set changes it. Neither checks j against the number of columns.
func (m *Matrix[T]) At(i, j int) T     { return m.data[i*m.stride+j] }
func (m *Matrix[T]) Set(i, j int, v T) { m.data[i*m.stride+j] = v }

// Row returns row i.
func (m *Matrix[T]) Row(i int) []T { return m.data[i*m.stride : i*m.stride+m.cols] }

// from returns the elements from element j of row i on.
func (m *Matrix[T]) from(i, j int) []T { return m.data[i*m.stride+j:] }

// Rows returns the rows lo … hi−1.
func (m Matrix[T]) Rows(lo, hi int) Matrix[T] {
	if lo < 0 || lo > hi || hi > m.rows {
		panic("gemm: rows out of range")
	}
	if lo == hi {
		return Matrix[T]{cols: m.cols, stride: m.stride, data: m.data[:0]}
	}
	return Strided(hi-lo, m.cols, m.stride, m.from(lo, 0))
}

// Cols returns the columns lo … hi−1.
func (m Matrix[T]) Cols(lo, hi int) Matrix[T] {
	if lo < 0 || lo > hi || hi > m.cols {
		panic("gemm: columns out of range")
	}
	if m.rows == 0 {
		return Matrix[T]{cols: hi - lo, stride: m.stride, data: m.data[:0]}
	}
	return Matrix[T]{m.rows, hi - lo, m.stride, m.data[lo:]}
}

// Sized returns a matrix of other numbers of rows and columns in the same memory, with the same
// row stride.
func (m Matrix[T]) Sized(rows, cols int) Matrix[T] {
	return Strided(rows, cols, m.stride, m.data[:cap(m.data)])
}

// Fresh returns a matrix without gaps in the memory of m, or in new memory if that does not
// suffice. Its elements are not defined.
func (m Matrix[T]) Fresh(rows, cols int) Matrix[T] {
	return Matrix[T]{rows, cols, cols, slices.Grow(m.data[:0], rows*cols)[:rows*cols]}
}

// Reshaped returns a matrix without gaps in the memory of m, or in new memory if that does not
// suffice. It has the elements of m, and zeros in the rows and columns that m does not have.
func (m Matrix[T]) Reshaped(rows, cols int) Matrix[T] {
	kept := min(m.rows, rows)
	data := slices.Grow(m.data, max(0, rows*cols-len(m.data)))
	data = data[:max(len(m.data), rows*cols)]
	if cols != m.cols || cols != m.stride {
		move(data, kept, m.stride, min(m.cols, cols), cols)
	}
	clear(data[kept*cols : rows*cols])
	return Matrix[T]{rows, cols, cols, data[:rows*cols]}
}

// move moves rows whose elements kept are the first ones, stride apart, so that they are cols
// apart, and clears the rest of them.
func move[T Float](data []T, rows, stride, kept, cols int) {
	for i := range rows {
		if cols > stride { // a row moves towards the end, so the last one makes room for the others
			i = rows - 1 - i
		}
		copy(data[i*cols:i*cols+kept], data[i*stride:i*stride+kept])
		clear(data[i*cols+kept : (i+1)*cols])
	}
}

// Copy copies the elements of src, which has at most the rows and columns of m.
func (m Matrix[T]) Copy(src Matrix[T]) {
	if m.cols == src.cols && m.stride == m.cols && src.stride == src.cols { // short rows are not worth a call each
		copy(m.data[:src.rows*src.cols], src.data)
		return
	}
	for i := range src.rows {
		copy(m.Row(i)[:src.cols], src.Row(i))
	}
}

// Clone returns a copy without gaps.
func (m Matrix[T]) Clone() Matrix[T] {
	c := NewMatrix[T](m.rows, m.cols)
	c.Copy(m)
	return c
}

// Data returns the elements of a matrix without gaps, row by row.
func (m Matrix[T]) Data() []T {
	if m.stride != m.cols && m.rows > 1 {
		panic("gemm: a matrix with gaps between its rows")
	}
	return m.data[:m.rows*m.cols]
}

// Clear sets all elements to 0.
func (m Matrix[T]) Clear() {
	for i := range m.rows {
		clear(m.Row(i))
	}
}

// RemoveColumn returns m without column j, whose place the last one takes, in the memory of m.
func (m Matrix[T]) RemoveColumn(j int) Matrix[T] {
	m.MoveColumn(j, m.cols-1)
	return m.Reshaped(m.rows, m.cols-1)
}

// MoveColumn copies column from to column to.
func (m Matrix[T]) MoveColumn(to, from int) {
	for i := range m.rows {
		row := m.Row(i)
		row[to] = row[from]
	}
}

// Bordered returns the symmetric n×n matrix m with more rows, l×(n+l), and with the columns that
// belong to them, in the memory of m if it suffices.
func (m Matrix[T]) Bordered(rows Matrix[T]) Matrix[T] {
	n := m.rows
	b := m.Reshaped(rows.cols, rows.cols)
	b.Rows(n, rows.cols).Copy(rows)
	for q := range rows.rows {
		for i, v := range rows.Row(q)[:n] {
			b.Set(i, n+q, v)
		}
	}
	return b
}
