package data

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func collect(text string, opts RowOptions) (rows []Row, err error) {
	err = EachRow(strings.NewReader(text), opts, func(r Row) error {
		rows = append(rows, r)
		return nil
	})
	return rows, err
}

// A LIBSVM row without a pair is a row of zeros: it takes nothing from the row before.
func TestRowOfZeros(t *testing.T) {
	rows, err := collect("1 1:3 2:4\n2\n", RowOptions{Format: FormatLIBSVM})
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	x := make([]float64, 2)
	for i := range rows {
		rows[i].Dense(x)
	}
	if x[0] != 0 || x[1] != 0 {
		t.Errorf("a row of zeros is %v", x)
	}
}

// Labels that are not wanted may be missing or wrong.
func TestNoLabels(t *testing.T) {
	for format, text := range map[string]string{FormatCSV: ",1\nnan,2\nelm,3\n", FormatLIBSVM: "nan 1:1\n1:2\nelm 1:3\n"} {
		rows, err := collect(text, RowOptions{Format: format, Dim: 1, NoLabels: true})
		if err != nil || len(rows) != 3 || rows[2].Label != "" || rows[2].Values[0] != 3 {
			t.Errorf("%s: %+v, %v", format, rows, err)
		}
	}
}

// Files of other formats are named as such.
func TestOtherFormats(t *testing.T) {
	for _, tt := range []struct{ format, text, want string }{
		{FormatLIBSVM, "1,2,elm\n", "--format csv"},
		{FormatCSV, "1 1:2 2:3\n", "--format libsvm"},
		{FormatCSV, "1;2;3\n", "semicolons"},
		{FormatLIBSVM, "1\t2\t3\n", "tabs"},
		{FormatLIBSVM, "\x93NUMPY\x01\x00v\x00{", "a NumPy file"},
		{FormatCSV, "PAR1\x15\x04", "a Parquet file"},
		{FormatCSV, "\xff\xfe1\x00,\x00", "save it as UTF-8"},
		{FormatLIBSVM, "PK\x03\x04", "a zip archive"},
	} {
		if _, err := collect(tt.text, RowOptions{Format: tt.format}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, %q: %v, want %q", tt.format, tt.text, err, tt.want)
		}
	}
}

func TestEachRowLabels(t *testing.T) {
	tests := []struct {
		format, text string
		column, dim  int
		want         string
	}{
		{FormatCSV, "a,b,c\n1,2,elm\n3,4,+1.0\n", -1, 0, "elm[1 2] 1[3 4] "},
		{FormatCSV, "7,\"oak, red\",2\n", 2, 0, "oak, red[7 2] "},
		{FormatCSV, "1,2\n3,4\n", -1, 2, "[1 2] [3 4] "},
		{FormatCSV, "1,2,-0\n", 1, 2, "1[2 -0] "},
		{FormatLIBSVM, "# none\n+1 2:5\n-1.50 1:3 4:2 # two\nx\n", 0, 4, "1[0 5 0 0] -1.50[3 0 0 2] x[0 0 0 0] "},
		{FormatLIBSVM, "2:5\n", 0, 4, "[0 5 0 0] "},
	}
	for _, tt := range tests {
		rows, err := collect(tt.text, RowOptions{Format: tt.format, LabelColumn: tt.column, Dim: tt.dim})
		var got string
		for _, r := range rows {
			x := make([]float64, max(tt.dim, r.Dim))
			r.Dense(x)
			got += fmt.Sprintf("%s%v ", r.Label, x)
		}
		if err != nil || got != tt.want {
			t.Errorf("%q: %q (%v), want %q", tt.text, got, err, tt.want)
		}
	}
}

func TestEachRowErrors(t *testing.T) {
	tests := []struct {
		format, text, want string
		dim                int
	}{
		{FormatLIBSVM, "1 1:2\n2:3", "line 2: want a label, got \"2:3\"", 0},
		{FormatLIBSVM, "1 3:2 3:1", "duplicate feature index 3", 0},
		{FormatLIBSVM, "1 0:2", "indices start at 1", 0},
		{FormatLIBSVM, "1 5:2", "above the number of features, 4", 4},
		{FormatLIBSVM, "1 9999999999999999999999:2", "is above", 0},
		{FormatLIBSVM, "1 qid:3", "query ids", 0},
		{FormatLIBSVM, "1 a:3", "not a whole number", 0},
		{FormatLIBSVM, "1 2", "not an index:value pair", 0},
		{FormatLIBSVM, "inf 1:2", "not finite", 0},
		{FormatLIBSVM, "1 1:1e999", "out of range", 0},
		{FormatLIBSVM, "1 1:1_0", "not a number", 0},
		{FormatCSV, "1,2,3\n1,2\n", "line 2: the row has 2 fields, want 3 like the first row", 0},
		{FormatCSV, "1,2,3,4\n", "want 2 features", 2},
		{FormatCSV, "1\n", "no features", 0},
		{FormatCSV, "nan,2\n", "not finite", 0},
		{FormatCSV, strings.Repeat("w", 300) + ",2\n", "longer than 256 bytes", 0},
		{"xml", "1,2\n", "unknown format", 0},
	}
	for _, tt := range tests {
		_, err := collect(tt.text, RowOptions{Format: tt.format, Dim: tt.dim})
		var pe *ParseError
		if !errors.As(err, &pe) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.40q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

// FuzzEachRow: a file that the readers of whole files read as a regression,
// EachRow reads too, with the same features and labels.
func FuzzEachRow(f *testing.F) {
	f.Add("1,2,3\n4,5,6\n", false)
	f.Add("a,b\n4,5e3\n", false)
	f.Add("+1 1:0.5 3:2 # x\n-1 2:1\n", true)
	f.Fuzz(func(t *testing.T, text string, libsvm bool) {
		format, read := FormatCSV, ReadCSV
		if libsvm {
			format, read = FormatLIBSVM, ReadLIBSVM
		}
		rows, err := collect(text, RowOptions{Format: format, MaxDim: 1000, Header: HeaderRule{Numbers: true}})
		s, whole := read(strings.NewReader(text), ReadOptions{Task: Regression, MaxDim: 1000, MaxValues: 1 << 20})
		if whole != nil {
			return
		}
		if err != nil || len(rows) != s.N {
			if strings.Contains(fmt.Sprint(err), "longer than 256") {
				return
			}
			t.Fatalf("%d rows and %v, want %d", len(rows), err, s.N)
		}
		for i := range rows {
			x := make([]float64, s.Dim)
			rows[i].Dense(x)
			y, err := ParseNumber(rows[i].Label)
			if err != nil || y != s.Y[i] {
				t.Fatalf("row %d: label %q (%v), want %v", i, rows[i].Label, err, s.Y[i])
			}
			for q, want := range s.Row(i) { // rounded once, which rounding twice may differ from
				if got := float32(x[q]); math.Nextafter32(got, want) != want {
					t.Fatalf("row %d: feature %v, want %v", i, x[q], want)
				}
			}
		}
	})
}
