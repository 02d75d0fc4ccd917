package rows

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// A sparse is a matrix in the format CSR, as scipy.sparse.save_npz writes it: row i has the elements
// indptr[i] to indptr[i+1] of data, in the columns that indices has at the same places.
type sparse struct {
	rows, columns int
	indptr        *array
	indices, data *array
	end           float64 // the last element of indptr that was read
}

// sparseMembers are the arrays of such a matrix besides data, with indices and indptr first.
var sparseMembers = []string{"indices", "indptr", "shape", "format"}

var errNotCSR = errors.New("this is a sparse matrix, but not in the format CSR: save it with scipy.sparse.save_npz(FILE, scipy.sparse.csr_matrix(X))")

// beginSparse reads the headers and the shape of the matrix, and the header of the labels.
func (r *Reader) beginSparse() error {
	s := &sparse{}
	var shape, format *array
	for i, to := range []**array{&s.data, &s.indices, &s.indptr, &shape, &format} {
		in := r.x
		if i > 0 {
			in = r.x.members[i-1]
		}
		var err error
		if *to, err = openNPY(in.contents, i == 4); err != nil {
			return fmt.Errorf("%s: %w", append([]string{"data"}, sparseMembers...)[i], err)
		}
	}
	b, err := format.read(1)
	if err != nil || format.kind.text(b) != "csr" {
		return cmp.Or(err, errNotCSR)
	}
	size, err := shape.numbers(2)
	if err != nil {
		return fmt.Errorf("shape: %w", err)
	}
	first, err := s.indptr.numbers(1)
	switch rows := size[0]; {
	case err != nil:
		return fmt.Errorf("indptr: %w", err)
	case rows < 1 || int(rows)+1 != s.indptr.n || first[0] != 0 || s.data.n != s.indices.n:
		return fmt.Errorf("%v rows with %d row pointers from %v, %d indices and %d values: not a matrix in the format CSR", rows, s.indptr.n, first[0], s.indices.n, s.data.n)
	case size[1] < 1 || int(size[1]) > r.o.MaxDim:
		return fmt.Errorf("%v columns: want 1 to %d", size[1], r.o.MaxDim)
	case r.o.Dim > 0 && int(size[1]) != r.o.Dim:
		return fmt.Errorf("%v columns: want %d features", size[1], r.o.Dim)
	case len(r.o.Ignore)+len(r.o.Keep) > 0:
		return wrongOption("ignore", "sparse matrices have no columns to ignore or keep")
	}
	s.rows, s.columns, r.sparse = int(size[0]), int(size[1]), s
	return r.beginLabels(s.rows)
}

// nextSparse returns the next row of a sparse matrix.
func (r *Reader) nextSparse() (*Row, error) {
	s := r.sparse
	if r.rows == s.rows {
		if left := s.data.n - int(s.end); left > 0 {
			return nil, fmt.Errorf("%d values after the last row", left)
		}
		return nil, cmp.Or(r.endLabels(), io.EOF)
	}
	row := &Row{Line: r.rows + 1, Dim: s.columns}
	wrong := func(format string, args ...any) (*Row, error) {
		return nil, &ParseError{row.Line, "row", fmt.Errorf(format, args...)}
	}
	end, err := s.indptr.numbers(1)
	if err != nil {
		return nil, err
	}
	n := end[0] - s.end
	if n < 0 || n > float64(s.columns) || end[0] > float64(s.data.n) {
		return wrong("%v values of %d columns: sum duplicates first (X.sum_duplicates())", n, s.columns)
	}
	s.end = end[0]
	at, err := s.indices.numbers(int(n))
	if err == nil {
		row.Values, err = s.data.numbers(int(n))
	}
	if err != nil {
		return nil, err
	}
	row.Indices = make([]int32, int(n))
	for i, column := range at {
		if column < 0 || column >= float64(s.columns) || row.Values[i]-row.Values[i] != 0 {
			return wrong("value %v in column %v of %d, from 0: want finite numbers within the columns", row.Values[i], column, s.columns)
		}
		row.Indices[i] = int32(column)
	}
	if !slices.IsSorted(row.Indices) {
		row.sort()
	}
	if len(slices.Compact(slices.Clone(row.Indices))) < len(row.Indices) {
		return wrong("two values in one column: sum duplicates first (X.sum_duplicates())")
	}
	return row, r.label(row)
}

// sort puts the values into the order of their indices.
func (r *Row) sort() {
	order := make([]int, len(r.Indices))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return int(r.Indices[i] - r.Indices[j]) })
	values, indices := r.Values, r.Indices
	r.Values, r.Indices = make([]float64, len(order)), make([]int32, len(order))
	for to, from := range order {
		r.Values[to], r.Indices[to] = values[from], indices[from]
	}
}

// numbers reads the next n elements as numbers.
func (a *array) numbers(n int) ([]float64, error) {
	if a.kind.number == nil {
		return nil, errors.New("want numbers")
	}
	if n > a.n-a.done {
		return nil, fmt.Errorf("its data end after %d of %d elements: %w", a.done, n, io.ErrUnexpectedEOF)
	}
	b, err := a.read(n)
	out := make([]float64, n)
	for i := range out[:len(b)/a.kind.size] {
		out[i] = a.kind.number(b[i*a.kind.size : (i+1)*a.kind.size])
	}
	return out, err
}
