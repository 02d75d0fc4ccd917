package gemm

import (
	"slices"
	"testing"
)

// TestMatrix checks the views and the copies of the matrix with the elements 11, 12, 13, 21, 22, 23,
// in memory with a gap of one element after each row.
func TestMatrix(t *testing.T) {
	gapped := func() Matrix[float64] { return Strided(2, 3, 4, []float64{11, 12, 13, -1, 21, 22, 23, -1}) }
	square := MatrixOf(2, 2, []float64{1, 2, 2, 3})
	for _, tt := range []struct {
		name string
		got  Matrix[float64]
		cols int
		want []float64
	}{
		{"rows", gapped().Rows(1, 2), 3, []float64{21, 22, 23}},
		{"no rows", gapped().Rows(2, 2), 3, nil},
		{"columns", gapped().Cols(1, 3), 2, []float64{12, 13, 22, 23}},
		{"columns of no rows", gapped().Rows(0, 0).Cols(1, 3), 2, nil},
		{"block", gapped().Rows(1, 2).Cols(0, 2), 2, []float64{21, 22}},
		{"sized", gapped().Sized(2, 2).Sized(2, 3), 3, []float64{11, 12, 13, 21, 22, 23}},
		{"narrower", gapped().Reshaped(2, 2), 2, []float64{11, 12, 21, 22}},
		{"as wide as the gap", gapped().Reshaped(3, 4), 4, []float64{11, 12, 13, 0, 21, 22, 23, 0, 0, 0, 0, 0}},
		{"wider", gapped().Reshaped(2, 5), 5, []float64{11, 12, 13, 0, 0, 21, 22, 23, 0, 0}},
		{"fewer rows", gapped().Reshaped(1, 3), 3, []float64{11, 12, 13}},
		{"one more row", MatrixOf(1, 2, []float64{1, 2, 9, 9}).Reshaped(2, 2), 2, []float64{1, 2, 0, 0}},
		{"column removed", gapped().RemoveColumn(0), 2, []float64{13, 12, 23, 22}},
		{"last column removed", gapped().RemoveColumn(2), 2, []float64{11, 12, 21, 22}},
		{"bordered", square.Bordered(MatrixOf(1, 3, []float64{4, 5, 6})), 3, []float64{1, 2, 4, 2, 3, 5, 4, 5, 6}},
		{"row", RowOf([]float64{7, 8}), 2, []float64{7, 8}},
	} {
		got := tt.got.Clone()
		if _, cols := got.Dims(); cols != tt.cols || !slices.Equal(got.Data(), tt.want) {
			t.Errorf("%s: %d columns, %v, want %d, %v", tt.name, cols, got.Data(), tt.cols, tt.want)
		}
	}
}

// TestFresh: a matrix in the memory of another takes no new memory, even after a view of no rows.
func TestFresh(t *testing.T) {
	m := NewMatrix[float32](6, 4)
	if a := testing.AllocsPerRun(10, func() { m = m.Rows(0, 0).Fresh(4, 6) }); a != 0 || m.Len() != 4 {
		t.Errorf("%v allocations, %d rows", a, m.Len())
	}
}
