package rows

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNPYTypes reads each element type, in both byte orders, as numbers and as labels.
func TestNPYTypes(t *testing.T) {
	for _, c := range []struct {
		descr   string
		values  any
		numbers []float64
		texts   []string
	}{
		{"|b1", []byte{0, 1}, []float64{0, 1}, []string{"0", "1"}},
		{"|u1", []byte{3, 255}, []float64{3, 255}, []string{"3", "255"}},
		{"|i1", []int8{-3, 127}, []float64{-3, 127}, []string{"-3", "127"}},
		{"<u2", []uint16{1, 65535}, []float64{1, 65535}, []string{"1", "65535"}},
		{">u2", []uint16{1, 65535}, []float64{1, 65535}, []string{"1", "65535"}},
		{"<i2", []int16{-2, 5}, []float64{-2, 5}, []string{"-2", "5"}},
		{">i4", []int32{-70000, 5}, []float64{-70000, 5}, []string{"-70000", "5"}},
		{"<u4", []uint32{4e9, 5}, []float64{4e9, 5}, []string{"4000000000", "5"}},
		{"<i8", []int64{math.MinInt64, 5}, []float64{math.MinInt64, 5}, []string{"-9223372036854775808", "5"}},
		{">u8", []uint64{math.MaxUint64, 5}, []float64{math.MaxUint64, 5}, []string{"18446744073709551615", "5"}},
		{"<f4", []float32{1.5, -2}, []float64{1.5, -2}, []string{"1.5", "-2"}},
		{">f8", []float64{1e22, -2}, []float64{1e22, -2}, []string{"10000000000000000000000", "-2"}},
		{"|S3", []byte("elmox\x00"), nil, []string{"elm", "ox"}},
		{"<U2", []uint32{'é', 'x', 'b', 0}, nil, []string{"éx", "b"}},
		{">U2", []uint32{'é', 'x', 'b', 0}, nil, []string{"éx", "b"}},
	} {
		b := string(npy(c.descr, false, []int{2, 1}, c.values))
		long := b[:6] + "\x02\x00" + b[8:10] + "\x00\x00" + b[10:] // version 2: the header's length has four bytes
		x := string(npy("|u1", false, []int{2, 1}, []byte{1, 2}))
		for _, b := range []string{b, long} {
			numbers, _, err := readArrays(t, b, "")
			if c.numbers == nil {
				if err == nil {
					t.Errorf("%s: text is read as numbers %v", c.descr, numbers)
				}
			} else if err != nil || !slices.Equal(numbers, c.numbers) {
				t.Errorf("%s: numbers %v, %v, want %v", c.descr, numbers, err, c.numbers)
			}
			if _, texts, err := readArrays(t, x, b); err != nil || !slices.Equal(texts, c.texts) {
				t.Errorf("%s: labels %q, %v, want %q", c.descr, texts, err, c.texts)
			}
		}
	}
}

// readArrays returns the features and the labels of arrays.
func readArrays(t *testing.T, x, y string) (numbers []float64, texts []string, err error) {
	t.Helper()
	labels := ""
	if y != "" {
		labels = filepath.Join(t.TempDir(), "y.npy")
		write(t, labels, y)
	}
	r, err := New(strings.NewReader(x), labels, Options{Format: FormatNPY})
	for err == nil {
		var row *Row
		if row, err = r.Next(); err == nil {
			numbers, texts = append(numbers, row.Values...), append(texts, row.Label)
		}
	}
	if err.Error() == "EOF" {
		err = nil
	}
	return numbers, texts, err
}

// TestFortranOrder reads a table in Fortran order, in which the first index varies fastest.
func TestFortranOrder(t *testing.T) {
	values := []uint8{0, 10, 1, 11, 2, 12} // A[i][j] = 10i + j
	got, _, err := readArrays(t, string(npy("|u1", true, []int{2, 3}, values)), "")
	if want := []float64{0, 1, 2, 10, 11, 12}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, _, err = readArrays(t, string(npy("|u1", true, []int{1, 3, 2}, values)), ""); err == nil || !strings.Contains(err.Error(), "ascontiguousarray") {
		t.Errorf("three dimensions: %v", err)
	}
}
