package rows

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"polkrepro/internal/golden"
	"polkrepro/internal/hostile"
	"polkrepro/internal/testutil"
)

// readAll returns the rows of a text and its layout.
func readAll(text string, o Options) (all []Row, l *Layout, err error) {
	r, err := New(strings.NewReader(text), "", o)
	if err != nil {
		return nil, nil, err
	}
	for {
		row, err := r.Next()
		if err != nil {
			if l = r.Layout(); err == io.EOF {
				err = nil
			}
			return all, l, err
		}
		all = append(all, *row)
	}
}

// TestCorpus reads every file of the corpus, with and without Options.Strict, and compares
// the rows and the error's text with testdata/corpus.txt.
func TestCorpus(t *testing.T) {
	var out strings.Builder
	for _, c := range corpus() {
		fmt.Fprintf(&out, "== %s\n", c.name)
		dir := t.TempDir()
		name, array, _ := strings.Cut(c.name, ":")
		path, labels := filepath.Join(dir, name), ""
		write(t, path, c.text)
		switch {
		case array != "":
			labels = path + ":" + c.labels
		case c.labels != "":
			labels = path + ".y"
			write(t, labels, c.labels)
		}
		o := Options{Format: c.format, Regression: c.number, Strict: true}
		if o.Format == "" {
			o.Format = FormatOf(c.name)
		}
		if IsTable(o.Format) {
			if o.Label.Number = c.label; c.label == 0 {
				o.Label.Number = -1
			}
		}
		strict := printed(filepath.Join(dir, c.name), labels, o)
		o.Strict, o.MaxDim = false, 1<<16
		loose := printed(filepath.Join(dir, c.name), labels, o)
		if strict != loose {
			strict = "strictly: " + strict[strings.LastIndexByte(strings.TrimSpace(strict), '\n')+1:]
			fmt.Fprint(&out, strict)
		}
		fmt.Fprint(&out, loose)
	}
	golden.Check(t, "testdata/corpus.txt", out.String())
}

// printed returns the header, the rows and the error of a file as text.
func printed(path, labels string, o Options) string {
	var b strings.Builder
	r, err := Open(path, labels, o)
	if err == nil {
		defer r.Close()
		said := false
		for {
			var row *Row
			row, err = r.Next()
			if l := r.Layout(); !said && l.Names != nil {
				fmt.Fprintf(&b, "line %d: header %q\n", l.Line, l.Names)
				said = true
			}
			if err != nil {
				break
			}
			fmt.Fprintf(&b, "%d %q %v", row.Line, row.Label, row.Values)
			if row.Indices != nil {
				fmt.Fprintf(&b, " at %v", row.Indices)
			}
			b.WriteByte('\n')
		}
	}
	fmt.Fprintf(&b, "%v\n", err)
	return b.String()
}

func write(t testing.TB, path, text string) {
	t.Helper()
	testutil.NoError(t, os.WriteFile(path, []byte(text), 0o666))
}

// Rows to predict may have missing or wrong labels, or no column of labels.
func TestWithoutLabels(t *testing.T) {
	for _, tt := range []struct {
		format, text string
		o            Options
		want         string
	}{
		{FormatCSV, "nan,2\n,1\nelm,3\n", Options{Dim: 1, NoLabels: true}, "[2] [1] [3] "},
		{FormatCSV, "1,4\n3,4\n", Options{Dim: 2}, "[1 4] [3 4] "},
		{FormatCSV, "7,\"oak, red\",2\n7,\"oak, red\",2\n", Options{Dim: 2, Label: Column{Number: 2}}, "oak, red[7 2] oak, red[7 2] "},
		{FormatTSV, "7\t1\n", Options{Dim: 1}, "7[1] "},
		{FormatTSV, "\t0.9\t0\n", Options{Dim: 2, Label: Column{Number: 3}, NoLabels: true}, "line 1: column 1: feature \"\" is missing: leave such rows out (--missing drop), or fill in the means of the columns (--missing mean)"},
		{FormatTSV, "7\t2\t3\r\n\r\n \n\t\t\r\n", Options{Dim: 2}, "7[2 3] line 4: column 1: the label is missing"},
		{FormatTSV, "5\t4\n\t\n", Options{Dim: 2, NoLabels: true}, "[5 4] line 2: column 1: feature \"\" is missing, the first of 2 missing values (rows with one: 1): leave such rows out (--missing drop), or fill in the means of the columns (--missing mean)"},
		{FormatTSV, "\"5\"\t4\n\t\"3\"\n", Options{Dim: 1}, "5[4] line 2: column 1: the label is missing"},
		{FormatCSV, "1.5,2\r3,4\r", Options{Dim: 2}, "[1.5 2] [3 4] "},
		{FormatCSV, "1.5,2\r\n3,4\r5,6\r\n", Options{Dim: 2}, "[1.5 2] line 2: a carriage return inside the line: lines must all end with LF, CR LF or CR; convert the file"},
		{FormatCSV, "1.5,2\r3,4\n5,6\r", Options{Dim: 2}, "[1.5 2] line 2: a carriage return inside the line: lines must all end with LF, CR LF or CR; convert the file"},
		{FormatCSV, "\n5\n", Options{Dim: 1}, "line 2: the empty line 1 before may be a row: fill in its value (1:0 for a LIBSVM row of zeros), or delete the line"},
		{FormatCSV, "\nx\n5\n6\n\n", Options{Dim: 1}, "[5] [6] "},
		{FormatLIBSVM, "2:5\n\n1 2:3\n\n2:3\n", Options{Dim: 2}, "[0 5] 1[0 3] line 5: the empty line 4 before may be a row: fill in its value (1:0 for a LIBSVM row of zeros), or delete the line"},
		{FormatCSV, "1,2,3,4\n", Options{Dim: 2, Header: HeaderNo}, "line 1: the first row has 4 columns: want 2 features, with or without a label"},
		{FormatLIBSVM, "nan 1:1\n1:2\nelm 1:3\n", Options{Dim: 1, NoLabels: true}, "[1] [2] [3] "},
		{FormatLIBSVM, "2:5\nx\n-1.50 1:3 4:2\n", Options{Dim: 4}, "[0 5 0 0] x[0 0 0 0] -1.50[3 0 0 2] "},
		{FormatLIBSVM, "1 5:2", Options{Dim: 4}, "line 1: feature index 5 is above the number of features, 4"},
		{FormatNPY, string(npy("<f8", false, []int{2, 1}, []float64{1, 2})), Options{Dim: 1, NoLabels: true}, "[1] [2] "},
		{FormatIDX, idx(0x08, 2, 3) + "abcdef", Options{Dim: 2}, "the first row has 3 columns: want 2 features, with or without a label"},
		{FormatNPZ, string(npz("x", "")), Options{}, "an NPZ archive is not read from a stream: name its file"},
	} {
		tt.o.Format = tt.format
		if IsTable(tt.format) && tt.o.Label.Number == 0 {
			tt.o.Label.Number = 1
		}
		all, _, err := readAll(tt.text, tt.o)
		var got string
		for _, r := range all {
			x := slices.Repeat([]float64{9}, max(tt.o.Dim, r.Dim))
			r.Dense(x)
			got += fmt.Sprintf("%s%v ", r.Label, x)
		}
		if err != nil {
			got += err.Error()
		}
		if got != tt.want {
			t.Errorf("%.20q: %s, want %s", tt.text, got, tt.want)
		}
	}
}

// A stream whose first bytes arrive one by one is read as it arrives.
func TestSlowStream(t *testing.T) {
	in, out := io.Pipe()
	r, err := New(in, "", Options{Format: FormatCSV, Label: Column{Number: 1}})
	testutil.NoError(t, err)
	go func() {
		for _, c := range []byte("7,5,6\n8,9,9\n") {
			out.Write([]byte{c})
		}
	}()
	row, err := r.Next()
	if err != nil || row.Label != "7" {
		t.Fatal(row, err)
	}
	want := errors.New("disk on fire")
	go func() {
		out.Write([]byte("1,2"))
		out.CloseWithError(want)
	}()
	if _, err = r.Next(); err != nil {
		t.Fatal(err)
	}
	if _, err = r.Next(); !errors.Is(err, want) {
		t.Errorf("a line that is cut off: %v, want that reading failed", err)
	}
}

// bomb returns n repetitions of a text, compressed with gzip.
func bomb(text string, n int) string {
	return string(zipped(strings.Repeat(text, n)))
}

// TestHostileRows checks that long lines, lines with many fields and many lines take no more
// memory than a line is allowed to, and that arrays take no more than their data need.
func TestHostileRows(t *testing.T) {
	const many = 1 << 19
	for _, c := range []struct {
		name, format, file, want string
	}{
		{"a line without end", FormatCSV, bomb("1", maxLine+1), "longer than 33554432 bytes"},
		{"a million columns", FormatCSV, strings.Repeat("1,", 1<<20) + "1\n", "more than 65536 features"},
		{"millions of columns", FormatCSV, bomb(",", many), "more than 65536 features"},
		{"millions of quotes", FormatCSV, bomb(`"",`, many), "more than 65536 features"},
		{"millions of fields", FormatLIBSVM, string(zipped("1 1:1\n" + strings.Repeat("1 ", many))), "more than 65536 features"},
		{"millions of indices", FormatLIBSVM, "1" + strings.Repeat(" 1:1", 1<<20), "more than 65536 features"},
		{"the index 2³¹ − 1", FormatLIBSVM, "1 2147483647:1\n", "above the limit, 65536"},
		{"a long label", FormatLIBSVM, strings.Repeat("l", 1<<20) + " 1:1\n", "longer than 256"},
		{"many blank lines", FormatCSV, bomb(" \n", 1<<17)[:200], "unexpected EOF"},
		{"many rows", FormatLIBSVM, bomb("a 1:1\n", 1<<15), "enough"},
		{"many classes", FormatCSV, ownLabels(MaxClasses + 1), "more than 1024 classes"},
		{"elements that are not there", FormatNPY, string(npy("<f8", false, []int{1 << 13, 1 << 14}, []float64{1, 2, 3})), "data end after 3 of 134217728 elements"},
		{"columns of Fortran that are not there", FormatNPY, string(npy("<f8", true, []int{1 << 13, 1 << 14}, []float64{1, 2, 3})), "data end after 3 of 134217728 elements"},
		{"too many elements", FormatNPY, string(npy("<f8", false, []int{1 << 20, 1 << 20, 1 << 20})), "more than 268435456 elements"},
		{"too many features", FormatNPY, string(npy("|u1", false, []int{1, 1 << 28})), "more than 65536"},
		{"more than the elements", FormatNPY, bomb("x", 1<<26), "not a NumPy file"},
		{"a long header", FormatNPY, "\x93NUMPY\x02\x00\xff\xff\xff\xff{", "a header of 4294967295 bytes"},
	} {
		n, most := 0, 32<<20
		if c.name == "a line without end" {
			most = 3 * maxLine // all allocations of a buffer that doubles up to maxLine
		}
		var err error
		hostile.AtMost(t, most, func() {
			var r *Reader
			o := Options{Format: c.format, MaxDim: 1 << 16}
			if IsTable(c.format) {
				o.Label.Number = 1
			}
			for r, err = New(strings.NewReader(c.file), "", o); err == nil; n++ {
				if _, err = r.Next(); n == 1<<15 {
					err = errors.New("enough")
				}
			}
		})
		if !strings.Contains(err.Error(), c.want) && !(c.want == "enough" && err == io.EOF) || len(err.Error()) > 300 {
			t.Errorf("%s: after %d rows error %.300v, want %q", c.name, n, err, c.want)

		}
	}
}

// ownLabels returns n rows with n different labels.
func ownLabels(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,%d\n", i, i)
	}
	return b.String()
}

// TestRowsKeepNoLine checks that a row that is kept does not keep its line in memory. Most
// of a line may be a comment.
func TestRowsKeepNoLine(t *testing.T) {
	const lines, length = 32, 1 << 20
	text := strings.Repeat("word 1:1 # "+strings.Repeat("x", length)+"\n", lines)
	before := heap()
	kept, _, err := readAll(text, Options{Format: FormatLIBSVM})
	if grown := int64(heap()) - int64(before); err != nil || len(kept) != lines || grown > lines*length/4 {
		t.Errorf("%d rows keep %d bytes, error %v", len(kept), grown, err)
	}
	runtime.KeepAlive(kept)
	runtime.KeepAlive(text)
}

// heap returns the bytes in use after a garbage collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// tabbable reports whether a CSV file is the same table in TSV if its commas are tabs: none is in
// a cell, and nothing looks like a pair of LIBSVM, whose separator may be a tab.
func tabbable(text string) bool {
	for line := range strings.Lines(text) {
		c := csv.NewReader(strings.NewReader(line))
		c.TrimLeadingSpace = true
		fields, _ := c.Read()
		if strings.Contains(strings.Join(fields, ""), ",") {
			return false
		}
	}
	return !strings.ContainsAny(text, "\t:\U0010ffff")
}

// FuzzRows checks that a file of any bytes gives rows of finite features or a short error,
// the same result when it is read again, and the same rows from a CSV file with tabs for commas.
func FuzzRows(f *testing.F) {
	for _, c := range corpus() {
		format := c.format
		if format == "" {
			format = FormatOf(c.name)
		}
		f.Add(c.text, format, c.number)
	}
	f.Add("\x00\r,", FormatCSV, false)
	f.Fuzz(func(t *testing.T, text, format string, number bool) {
		if len(text) > 1<<16 {
			return
		}
		o := Options{Format: format, MaxDim: 1000, Regression: number}
		if IsTable(format) {
			o.Label.Number = -1
		}
		all, l, err := readAll(text, o)
		if format == FormatCSV && tabbable(text) {
			o.Format = FormatTSV
			tabbed, _, errTabbed := readAll(strings.ReplaceAll(text, ",", "\t"), o)
			o.Format = FormatCSV
			if (err == nil) != (errTabbed == nil) || err == nil && !slices.EqualFunc(all, tabbed, same) {
				t.Fatalf("%d rows (%v), with tabs for commas %d (%v)", len(all), err, len(tabbed), errTabbed)
			}
		}
		if err != nil && len(err.Error()) > 4<<10 {
			t.Fatalf("an error of %d bytes: %.200s", len(err.Error()), err)
		}
		for _, row := range all {
			x := make([]float64, row.Dim)
			row.Dense(x)
			if row.Line < 1 || IsTable(format) && (row.Dim != len(l.Features) || row.Label == "") {
				t.Fatalf("%+v of %+v", row, l)
			}
			for i, v := range row.Values {
				if v-v != 0 || row.Indices != nil && i > 0 && row.Indices[i] <= row.Indices[i-1] {
					t.Fatalf("%+v", row)
				}
			}
		}
		again, _, errAgain := readAll(text, o)
		if fmt.Sprint(err) != fmt.Sprint(errAgain) || !slices.EqualFunc(all, again, same) {
			t.Fatalf("%d rows (%v), and %d (%v)", len(all), err, len(again), errAgain)
		}
	})
}

func same(a, b Row) bool {
	return a.Line == b.Line && a.Label == b.Label && slices.Equal(a.Values, b.Values) && slices.Equal(a.Indices, b.Indices)
}
