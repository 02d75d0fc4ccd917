package rows

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
)

// readColumns returns the rows of a text, read as a file or as a stream, what the reader said, and how
// other rows are read for a model of these.
func readColumns(t testing.TB, text string, o Options, file bool) (all []Row, said []string, again Options, err error) {
	var r *Reader
	if file {
		path := filepath.Join(t.TempDir(), "rows")
		write(t, path, text)
		r, err = Open(path, "", o)
	} else {
		r, err = New(strings.NewReader(text), "", o)
	}
	testutil.NoError(t, err)
	defer r.Close()
	for err == nil {
		var row *Row
		if row, err = r.Next(); err == nil {
			all = append(all, *row)
			o.Dim = row.Dim
		}
	}
	if err == io.EOF {
		err = nil
	}
	if l := r.Layout(); l.Columns > 0 {
		o.Columns = l.Read
		if o.Ignore, o.Keep, o.Categories = nil, nil, nil; l.Names != nil {
			o.Names = l.Sum()
		}
	}
	return all, r.Said(), o, err
}

// inOneLine writes rows as label[features], what was said, and the error.
func inOneLine(all []Row, said []string, err error) string {
	var words []string
	for i := range all {
		x := make([]float64, all[i].Dim)
		all[i].Dense(x)
		words = append(words, all[i].Label+fmt.Sprint(x))
	}
	words = append(words, said...)
	if err != nil {
		words = append(words, err.Error())
	}
	return strings.Join(words, " ")
}

// by returns columns by number.
func by(numbers ...int) (columns []Column) {
	for _, n := range numbers {
		columns = append(columns, Column{Number: n})
	}
	return columns
}

const advice = ": leave such rows out (--missing drop), or fill in the means of the columns (--missing mean)"

func TestColumns(t *testing.T) {
	trees := "red,1.5,a\nblue,2,b\nred,3,a\nblue,1,b\n"
	plain := "0,1.5,a\n1,2,b\n"
	gaps := "4,1.5,a\n5,,b\n,NA,b\n6,4.5,a\n"
	wide := "alpha,beta,gamma,delta,epsilon,zeta,eta,theta,class\n" + "1,2,3,4,5,6,7,8,a\n"
	var many strings.Builder
	for i := range MaxLevels + 1 {
		fmt.Fprintf(&many, "k%d,1.5,%c\n", i, 'a'+i%2)
	}
	for _, tt := range []struct {
		from string // file or stream; empty for both
		text string
		c    Columns
		want string
	}{
		// Categories.
		{"", trees, Columns{Categories: by(1)}, "a[0 1 1.5] b[1 0 2] a[0 1 3] b[1 0 1]"},
		{"", "10,1.5,a\n9,2,b\n9.0,3,a\n10,1,b\n", Columns{Categories: by(1)}, "a[0 1 1.5] b[1 0 2] a[1 0 3] b[0 1 1]"},
		{"", "x,c,y\n1,p,a\n2,q,b\n", Columns{Categories: []Column{{Name: "c"}}}, "a[1 1 0] b[2 0 1]"},
		{"", "p,c,y\nr,p,a\nr,q,b\n", Columns{Categories: by(1, 2)}, "the first row may be a header (no column tells): use --header yes or --header no; in a spec, header: yes or no"},
		{"", "red,x,a\nblue,2,b\n", Columns{Categories: by(1)}, "the first row may be a header (not all its features are numbers): use --header yes or --header no; in a spec, header: yes or no"},
		{"", "0,1.5,a\n1,2,b\nweb,3,a\n", Columns{}, `a[0 1.5] b[1 2] line 3: column 1: feature "web" is not a number; name it as a category (--categories), or leave it out (--ignore-columns; in a spec, ignore)`},
		{"file", many.String(), Columns{Categories: by(1)}, "column 1 has more than 1000 levels: leave it out (--ignore-columns; in a spec, ignore), or put its levels into groups"},
		{"", ",1.5,a\n,2,b\n", Columns{Categories: by(1)}, "column 1 has no value in any row: leave it out (--ignore-columns; in a spec, ignore)"},

		// Missing values.
		{"file", gaps, Columns{}, `a[4 1.5] line 2: column 2: feature "" is missing, the first of 3 missing values (rows with one: 2)` + advice},
		{"stream", gaps, Columns{}, `a[4 1.5] line 2: column 2: feature "" is missing` + advice},
		{"", gaps, Columns{Missing: MissingDrop}, "a[4 1.5] a[6 4.5] missing values: 3 in 2 of 4 rows, the first in line 2, column 2; these rows are left out"},
		{"", gaps, Columns{Missing: MissingMean}, "a[4 1.5] b[5 3] b[5 3] a[6 4.5] missing values: 3 in 2 of 4 rows, the first in line 2, column 2; filled in with the means of their columns"},
		{"", "p,1.5,a\n,2,b\n?,3,b\n", Columns{Categories: by(1), Missing: MissingMean}, "a[0 1 1.5] b[0 0 2] b[1 0 3] missing values: 1 in 1 of 3 rows, the first in line 2, column 1; filled in with the means of their columns"},
		{"", "1,1.5,a\n1,,b\n1,2.5,b\n", Columns{Missing: "zero"}, `missing "zero": want one of refuse, drop, mean`},
		{"", "NA,1.5,a\nNA,3,b\n", Columns{Missing: MissingMean}, "column 1 has no value in any row: leave it out (--ignore-columns; in a spec, ignore)"},
		{"", "3,1.5,a\n4,1,\n,7,\n", Columns{Missing: MissingDrop}, "a[3 1.5] missing values: 3 in 2 of 3 rows, the first in line 2, column 3; these rows are left out"},
		{"", "3,1.5,\n4,1,b\n", Columns{Missing: MissingMean}, "line 1: column 3: the label is missing, because the row ends with a separator: if all rows do, remove it (sed 's/,$//')"},

		// Delimiters and decimal signs.
		{"file", "1;0,74;a\n0;1,5;b\n", Columns{}, "a[1 0.74] b[0 1.5] the columns lie between semicolons, and numbers have a decimal comma (--delimiter ';' --decimal ,)"},
		{"file", "\"x;1\";y;t\n1;0.74;a\n0;1.5;b\n", Columns{}, "a[1 0.74] b[0 1.5] the columns lie between semicolons, and numbers have a decimal point (--delimiter ';' --decimal .)"},
		{"stream", "1;0,74;a\n0;1,5;b\n", Columns{}, `line 1: the columns of "1;0,74;a" seem to lie between semicolons, with decimal commas: if they do, say so (--delimiter ';' --decimal ,)`},
		{"", "1;0,74;a\n0;1,5;b\n", Columns{Delimiter: ";", Decimal: ","}, "a[1 0.74] b[0 1.5]"},
		{"", "1;0,74;1,0\n0;1,5;-2,50\n", Columns{Delimiter: ";", Decimal: ","}, "1[1 0.74] -2.50[0 1.5]"},
		{"", "1;0,74;a\n0;1.5;b\n", Columns{Delimiter: ";", Decimal: ","}, `a[1 0.74] line 2: column 2: feature "1.5" is not a number; name it as a category (--categories), or leave it out (--ignore-columns; in a spec, ignore)`},
		{"", "1;2;a\n0;1,5;b\n", Columns{Delimiter: ";"}, `a[1 2] line 2: column 2: feature "1,5" is not a number; name the decimal sign (--decimal ,)`},
		{"", "1,234;5,600;a\n2,345;1,500;b\n", Columns{}, `line 1: the columns of "1,234;5,600;a" seem to lie between semicolons, with decimal commas: if they do, say so (--delimiter ';' --decimal ,)`},
		{"file", "1,5;2;x\n0;1,5;b, c\n", Columns{}, `line 1: the columns of "1,5;2;x" seem to lie between semicolons, with decimal commas: if they do, say so (--delimiter ';' --decimal ,)`},
		{"", "sep=;\n1;0.74;a\n0;1.5;b\n", Columns{Decimal: "."}, "a[1 0.74] b[0 1.5]"},
		{"file", "sep=;\n1;0,74;a\n0;1,5;b\n", Columns{}, "a[1 0.74] b[0 1.5] the columns lie between semicolons, and numbers have a decimal comma (--delimiter ';' --decimal ,)"},
		{"", "1|2.5|\"a|b\"\n0|1.5|b\n", Columns{Delimiter: "|"}, "a|b[1 2.5] b[0 1.5]"},
		{"", " 1  2.5 a\n0 1.5   b \n", Columns{Delimiter: " "}, "a[1 2.5] b[0 1.5]"},
		{"", "1,2,a\n", Columns{Decimal: ","}, `the decimal sign and the delimiter are both ",": numbers with decimal commas need another delimiter, such as --delimiter ';'`},
		{"", "1,2,a\n", Columns{Delimiter: "ab"}, `delimiter "ab": want one character that is no part of a number or word, such as ';' or '|'`},
		{"", "7.5,2,a\r8,1,b\r\r9,2,a", Columns{}, "a[7.5 2] b[8 1] a[9 2]"},

		// Roles.
		{"", trees, Columns{Ignore: by(1)}, "a[1.5] b[2] a[3] b[1]"},
		{"", trees, Columns{Ignore: by(1, 1)}, "column 1 is named twice"},
		{"", plain, Columns{Ignore: by(0)}, "no column 0: the file has 3 columns"},
		{"", plain, Columns{Ignore: by(1), Keep: by(1)}, "column 1 is not a feature: it is the label or left out"},
		{"", plain, Columns{Categories: by(3)}, "column 3 is not a feature: it is the label or left out"},
		{"", trees, Columns{Categories: by(1), Ignore: by(1)}, "column 1 is not a feature: it is the label or left out"},
		{"", plain, Columns{Ignore: by(3)}, "column 3 is the label"},
		{"", wide, Columns{Ignore: []Column{{Name: "Apsilon"}}}, `no column "Apsilon": want one of epsilon, alpha, delta, beta, gamma, zeta, eta, theta, …`},
	} {
		for _, file := range []bool{true, false} {
			if tt.from != "" && file != (tt.from == "file") {
				continue
			}
			o := Options{Format: FormatCSV, Label: Column{Number: -1}, Columns: tt.c, Classes: []string{"a", "b", "a|b"}}
			all, said, again, err := readColumns(t, tt.text, o, file)
			got := inOneLine(all, said, err)
			if got != tt.want {
				t.Errorf("%.80q with %+v, file %v:\n got %.500s\nwant %s", tt.text, tt.c, file, got, tt.want)
			}
			if err == nil { // a model reads the same rows alike
				reread, _, _, err := readColumns(t, tt.text, again, false)
				if !slices.EqualFunc(all, reread, same) {
					t.Errorf("%q read for its model: %v, %v", tt.text, inOneLine(reread, nil, nil), err)
				}
			}
		}
	}
}

// TestTrainedColumns reads rows for a model that was trained on other rows.
func TestTrainedColumns(t *testing.T) {
	named := "id,x,c,tree,y\n1,2,p,elm,3\n2,4,q,oak,5\n"
	c := Columns{Ignore: by(1), Categories: by(3), Missing: MissingMean}
	bare := strings.SplitN(named, "\n", 2)[1]
	for _, tt := range []struct {
		trained, text string
		change        func(*Options)
		want          string
	}{
		{named, "y,new,c,x\n7,1,q,8\n", nil, "[8 0 1 7]"},
		{named, "y,c,x\n,q,8\n5,,1\n", nil, "[8 0 1 4] [1 0 0 5] missing values: 2 in 2 of 2 rows, the first in line 2, column 1 (\"y\"); filled in with the means of their columns"},
		{named, "y,c,x\n7,r,8\n7,r,8\n7,q,8\n7,s,8\n", nil, `[8 0 0 7] [8 0 0 7] [8 0 1 7] [8 0 0 7] warning: line 2: column 2 ("c") has the level "r", which the training rows did not have: it counts as none warning: column 2 ("c") has levels that the training rows did not have, in 3 rows ("r" 2, "s" 1): they count as none`},
		{named, "y,C,x\n7,q,8\n", nil, `line 1: no column "c", which the model was trained on: the header has y, C, x (if it is none: --header no)`},
		{named, bare, nil, "[2 1 0 3] [4 0 1 5]"},
		{named, "2,p,3\n4,q,5\n", nil, "[2 1 0 3] [4 0 1 5]"},
		{named, "1,2,p,3\n2,4,q,5\n", nil, "line 1: the first row has 4 columns: want 5 as in training, or 3 features alone"},
		{named, "1,2,p,3\n2,4,q,5\n", func(o *Options) { o.Ignore = by(1) }, "[2 1 0 3] [4 0 1 5]"},
		{named, "1;2;p;elm;3,5\n", func(o *Options) { o.Delimiter, o.Decimal = ";", "," }, "[2 1 0 3.5]"},
		{named, "Tree,y,c,x\nelm,7,q,8\n", func(o *Options) { o.NoLabels = false }, "elm[8 0 1 7]"},
		{named, "kind,y,c,x\nelm,7,q,8\n", func(o *Options) { o.NoLabels = false }, `line 1: no column "tree", which has the label in the training data: name the column of the label (--label)`},
		{named, "kind,y,c,x\nelm,7,q,8\n", func(o *Options) { o.NoLabels, o.Label, o.Names.Label = false, Column{Number: 1}, "" }, "elm[8 0 1 7]"},
		{named, "x,y,c\n1,2,p\n", func(o *Options) { o.Categories = by(1) }, `column 1 ("x") is not a category of the model, whose columns are those of its training`},
		{named, "x,y,c\n1,2,p\n", func(o *Options) { o.Categories, o.Missing = by(3), MissingRefuse }, "[1 1 0 2]"},
		{named, "x,y,c\n1,,p\n", func(o *Options) { o.Missing = MissingDrop }, `missing values: 1 in 1 of 1 rows, the first in line 2, column 2 ("y"); these rows are left out`},
		{named, "x,y,c\n1,2,p\n", func(o *Options) { o.Ignore = by(1) }, `column 1 ("x") is a feature of the model`},
		{bare, bare, nil, "[2 1 0 3] [4 0 1 5]"},
		{bare, named, nil, "[2 1 0 3] [4 0 1 5]"},
	} {
		o := Options{Format: FormatCSV, Label: Column{Number: 4}, Columns: c, Classes: []string{"elm", "oak"}}
		_, _, again, err := readColumns(t, tt.trained, o, true)
		testutil.NoError(t, err)
		if again.NoLabels = true; tt.change != nil {
			tt.change(&again)
		}
		if got := inOneLine(readOnly(readColumns(t, tt.text, again, false))); got != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
	for _, missing := range []string{"", MissingMean} { // a model without means
		o := Options{Format: FormatCSV, Label: Column{Number: 1}, Dim: 1, Columns: Columns{Missing: missing}}
		_, _, _, err := readColumns(t, "2.5\n1\n", o, false)
		if want := "the model has no means: train it with --missing mean, or leave such rows out (--missing drop)"; (err == nil) != (missing == "") || err != nil && err.Error() != want {
			t.Errorf("missing %q: %v", missing, err)
		}
	}
}

func readOnly(all []Row, said []string, _ Options, err error) ([]Row, []string, error) {
	return all, said, err
}

func TestZeroBased(t *testing.T) {
	o := Options{Format: FormatLIBSVM, Columns: Columns{ZeroBased: true}}
	for text, want := range map[string]string{
		"a 0:1 2:3\nb 1:2\n": "a[1 0 3] b[0 2]",
		"a 2:1 1:3\n":        "line 1: feature index 1 comes after 2: indices must ascend",
		"a 0:1 0:3\n":        "line 1: duplicate feature index 0",
		"a 1048576:1\n":      "line 1: feature index 1048576 is above the limit, 1048576",
	} {
		if got := inOneLine(readOnly(readColumns(t, text, o, false))); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// csr returns an archive as scipy.sparse.save_npz writes it, of three rows of four columns.
func csr(indptr, indices []int32, data []float64, format string) string {
	return string(npz("indices", string(npy("<i4", false, []int{len(indices)}, indices)), "indptr", string(npy("<i4", false, []int{len(indptr)}, indptr)),
		"format", string(npy("|S3", false, nil, []byte(format))), "shape", string(npy("<i8", false, []int{2}, []int64{3, 4})), "data", string(npy("<f8", false, []int{len(data)}, data))))
}

func TestSparse(t *testing.T) {
	x := []float64{1, 2, 3.5, 4}
	for _, tt := range []struct{ name, text, want string }{
		{"sorted", csr([]int32{0, 2, 2, 4}, []int32{0, 3, 1, 2}, x, "csr"), "5[1 0 0 2] 6[0 0 0 0] 5[0 3.5 4 0]"},
		{"unsorted", csr([]int32{0, 2, 3, 4}, []int32{3, 0, 1, 2}, x, "csr"), "5[2 0 0 1] 6[0 3.5 0 0] 5[0 0 4 0]"},
		{"csc", csr([]int32{0, 2, 3, 4}, []int32{3, 0, 1, 2}, x, "csc"), errNotCSR.Error()},
		{"duplicates", csr([]int32{0, 2, 3, 4}, []int32{3, 3, 1, 2}, x, "csr"), "row 1: two values in one column: sum duplicates first (X.sum_duplicates())"},
		{"descending", csr([]int32{0, 2, 1, 4}, []int32{0, 3, 1, 2}, x, "csr"), "5[1 0 0 2] row 2: -1 values of 4 columns: sum duplicates first (X.sum_duplicates())"},
		{"outside", csr([]int32{0, 1, 1, 4}, []int32{0, 4, 1, 2}, x, "csr"), "5[1 0 0 0] 6[0 0 0 0] row 3: value 2 in column 4 of 4, from 0: want finite numbers within the columns"},
		{"left over", csr([]int32{0, 1, 1, 2}, []int32{0, 1, 1, 2}, x, "csr"), "5[1 0 0 0] 6[0 0 0 0] 5[0 2 0 0] 2 values after the last row"},
		{"other lengths", csr([]int32{0, 1, 1}, []int32{0, 1, 2}, x, "csr"), "3 rows with 3 row pointers from 0, 3 indices and 4 values: not a matrix in the format CSR"},
		{"coo", string(npz("row", "", "col", "", "format", "", "shape", "", "data", "")), errNotCSR.Error()},
	} {
		dir := t.TempDir()
		path, labels := filepath.Join(dir, "x.npz"), filepath.Join(dir, "y.npy")
		write(t, path, tt.text)
		write(t, labels, string(npy("|u1", false, []int{3}, []byte{5, 6, 5})))
		r, err := Open(path, labels, Options{Format: FormatNPZ, Sum: true})
		testutil.NoError(t, err)
		var all []Row
		for err == nil {
			var row *Row
			if row, err = r.Next(); err == nil {
				all = append(all, *row)
			}
		}
		if err == io.EOF {
			_, _, err = r.Sums()
		}
		if got := inOneLine(all, nil, err); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		testutil.NoError(t, r.Close())
	}
}

// FuzzColumns checks that a table of any bytes gives finite rows or an error, that a file and a stream
// give the same if nothing is detected, and that a model reads its training rows alike.
func FuzzColumns(f *testing.F) {
	f.Add("red,1.5,a\nblue,2,b\nred,,a\n", "", "", uint8(1), uint8(0))
	f.Add("x,c,y\n1,p,a\nNA,q,b\n", ",", ".", uint8(2), uint8(1))
	f.Add("1;0,74;a\n0;1,5;b\n", "", "", uint8(0), uint8(2))
	f.Add("1|2|3|\"a|b\"\n0|,5|3|b\n", "|", ",", uint8(9), uint8(2))
	f.Add("sep=;\r1;0,74;a\r0;1,5;b\r", ";", "", uint8(4), uint8(1))
	f.Fuzz(func(t *testing.T, text, delimiter, decimal string, roles, missing uint8) {
		if len(text) > 1<<12 {
			return
		}
		o := Options{Format: FormatCSV, MaxDim: 1000, Label: Column{Number: -1}, Columns: Columns{Delimiter: delimiter, Decimal: decimal, Missing: MissingWords()[missing%3]}}
		for at := range 3 {
			switch roles >> (2 * at) & 3 {
			case 1:
				o.Categories = append(o.Categories, by(at+1)...)
			case 2:
				o.Ignore = append(o.Ignore, by(at+1)...)
			case 3:
				o.Keep = append(o.Keep, by(at+1)...)
			}
		}
		all, said, again, err := readColumns(t, text, o, true)
		if err != nil && len(err.Error()) > 4<<10 {
			t.Fatalf("an error of %d bytes: %.200s", len(err.Error()), err)
		}
		for _, row := range all {
			for i, v := range row.Values {
				if v-v != 0 || row.Indices != nil && (i > 0 && row.Indices[i] <= row.Indices[i-1] || int(row.Indices[i]) >= row.Dim) {
					t.Fatalf("%+v", row)
				}
			}
		}
		if err != nil || len(all) == 0 {
			return
		}
		o.Delimiter, o.Decimal = again.Delimiter, again.Decimal
		streamed, saidToo, _, err := readColumns(t, text, o, false)
		if delimiter != "" && (err != nil || !slices.Equal(said, saidToo)) || err == nil && !slices.EqualFunc(all, streamed, same) {
			t.Fatalf("%d rows of a file, %q; of a stream %d (%v), %q", len(all), said, len(streamed), err, saidToo)
		}
		if err := again.Columns.Check(all[0].Dim); err != nil {
			t.Fatal(err)
		}
		reread, _, _, err := readColumns(t, text, again, false)
		if err == nil && !slices.EqualFunc(all, reread, same) {
			t.Fatalf("%d rows, read for their model %d", len(all), len(reread))
		}
	})
}
