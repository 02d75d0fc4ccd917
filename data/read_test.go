package data

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/internal/hostile"
)

func TestReadLIBSVM(t *testing.T) {
	tests := []struct {
		name, text string
		opts       ReadOptions
		want       *Split
	}{
		{"three classes", "3 1:0.5 3:2\n-1\n+7 2:1e-3 # comment\n", ReadOptions{},
			&Split{3, 3, []float32{0.5, 0, 2, 0, 0, 0, 0, 0.001, 0}, []float64{1, 0, 2}, []float64{-1, 3, 7}}},
		{"blank lines, comments, tabs, CRLF, BOM", "\xef\xbb\xbf# head\r\n\r\n1\t1:1 \r\n  2 1:2\r\n", ReadOptions{},
			&Split{2, 1, []float32{1, 2}, []float64{0, 1}, []float64{1, 2}}},
		{"integers written as reals", "1.0 1:1\n2e0 1:2", ReadOptions{},
			&Split{2, 1, []float32{1, 2}, []float64{0, 1}, []float64{1, 2}}},
		{"minus zero", "-0 1:1\n0 1:2\n1 1:3", ReadOptions{},
			&Split{3, 1, []float32{1, 2, 3}, []float64{0, 0, 1}, []float64{0, 1}}},
		{"wider", "0 1:1\n1 2:2", ReadOptions{Dim: 3},
			&Split{2, 3, []float32{1, 0, 0, 0, 2, 0}, []float64{0, 1}, []float64{0, 1}}},
		{"known labels", "5 1:1\n5 1:2", ReadOptions{Labels: []float64{2, 5, 9}},
			&Split{2, 1, []float32{1, 2}, []float64{1, 1}, []float64{2, 5, 9}}},
		{"binary", "1 1:1\n0 1:2", ReadOptions{Task: Binary},
			&Split{2, 1, []float32{1, 2}, []float64{1, -1}, []float64{0, 1}}},
		{"binary with known labels", "4 1:1", ReadOptions{Task: Binary, Labels: []float64{3, 4}},
			&Split{1, 1, []float32{1}, []float64{1}, []float64{3, 4}}},
		{"regression", "-0.25 1:1\n1e300 1:2", ReadOptions{Task: Regression},
			&Split{2, 1, []float32{1, 2}, []float64{-0.25, 1e300}, nil}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, b := range [][]byte{[]byte(tt.text), gzipped(t, []byte(tt.text))} {
				got, err := ReadLIBSVM(bytes.NewReader(b), tt.opts)
				if err != nil {
					t.Fatal(err)
				}
				sameSplit(t, got, tt.want)
			}
		})
	}
}

func TestReadCSV(t *testing.T) {
	want := &Split{2, 2, []float32{0.5, 1, -2, 3}, []float64{1, 0}, []float64{2, 8}}
	tests := []struct {
		name, text string
		opts       ReadOptions
		want       *Split
	}{
		{"plain", "8,0.5,1\n2,-2,3\n", ReadOptions{}, want},
		{"header", "label,\"x, first\",y\n8,0.5,1\n2,-2,3", ReadOptions{}, want},
		{"quotes and blanks", " \"8\", 0.5,\"1\"\r\n\r\n2,-2 ,\t3\r\n", ReadOptions{}, want},
		{"label last", "0.5,1,8\n-2,3,2", ReadOptions{LabelColumn: -1}, want},
		{"label in the middle", "0.5;8;1\n-2;2;3", ReadOptions{LabelColumn: 2, Comma: ';'}, want},
		{"tabs", "8\t0.5\t1\n2\t-2\t3", ReadOptions{Comma: '\t', Dim: 2}, want},
		{"regression", "x,y\n1,-0.5", ReadOptions{Task: Regression, LabelColumn: 2},
			&Split{1, 1, []float32{1}, []float64{-0.5}, nil}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, b := range [][]byte{[]byte(tt.text), gzipped(t, []byte(tt.text))} {
				got, err := ReadCSV(bytes.NewReader(b), tt.opts)
				if err != nil {
					t.Fatal(err)
				}
				sameSplit(t, got, tt.want)
			}
		})
	}
}

// A readFunc is ReadLIBSVM or ReadCSV.
type readFunc func(io.Reader, ReadOptions) (*Split, error)

func TestReadErrors(t *testing.T) {
	long := strings.Repeat(" ", maxLine+1)
	many := new(strings.Builder)
	for i := range 20 {
		fmt.Fprintf(many, "%d 1:1\n", i)
	}
	svm, table := ReadLIBSVM, ReadCSV
	tests := []struct {
		name string
		read readFunc
		text string
		opts ReadOptions
		line int
		want string
	}{
		{"empty", svm, "", ReadOptions{}, 0, "no examples"},
		{"only blank", svm, "\n \n# x\n", ReadOptions{}, 0, "no examples"},
		{"NaN feature", svm, "1 1:1\n2 1:nan", ReadOptions{}, 2, "not finite"},
		{"Inf feature", svm, "1 1:1\n2 1:-Inf", ReadOptions{}, 2, "not finite"},
		{"feature beyond float32", svm, "1 1:1\n2 1:1e39", ReadOptions{}, 2, "too large"},
		{"feature no number", svm, "1 1:1\n2 1:x", ReadOptions{}, 2, "not a number"},
		{"feature missing", svm, "1 1:", ReadOptions{}, 1, "not a number"},
		{"no colon", svm, "1 1:1\n\n2 1", ReadOptions{}, 3, "not an index:value pair"},
		{"no label", svm, "1:1 2:2", ReadOptions{}, 1, "want a label"},
		{"query id", svm, "1 qid:1 1:2", ReadOptions{}, 1, "qid"},
		{"index 0", svm, "1 0:1", ReadOptions{}, 1, "start at 1"},
		{"negative index", svm, "1 -1:1", ReadOptions{}, 1, "whole number"},
		{"index no number", svm, "1 a:1", ReadOptions{}, 1, "whole number"},
		{"duplicate index", svm, "1 2:1 2:3", ReadOptions{}, 1, "duplicate feature index 2"},
		{"unsorted index", svm, "1 2:1 1:3", ReadOptions{}, 1, "ascend"},
		{"lying index", svm, "1 1:1\n2 4000000000:1", ReadOptions{}, 2, "MaxDim"},
		{"overflowing index", svm, "1 99999999999999999999999:1", ReadOptions{}, 1, "MaxDim"},
		{"index above Dim", svm, "1 4:1", ReadOptions{Dim: 3}, 1, "above the number of features, 3"},
		{"too many values", svm, "1 1:1\n2 600:1", ReadOptions{MaxValues: 1000}, 2, "MaxValues"},
		{"NaN label", svm, "NaN 1:1", ReadOptions{}, 1, "not finite"},
		{"Inf label", svm, "inf 1:1", ReadOptions{Task: Regression}, 1, "not finite"},
		{"label no number", svm, "cat 1:1", ReadOptions{}, 1, "not a number"},
		{"several labels", svm, "1,2 1:1", ReadOptions{}, 1, "not a number"},
		{"label beyond float64", svm, "1e999 1:1", ReadOptions{}, 1, "out of range"},
		{"label not an integer", svm, "1 1:1\n1.5 1:1", ReadOptions{}, 2, "not an integer"},
		{"label too large to be exact", svm, "1e17 1:1", ReadOptions{}, 1, "not an integer"},
		{"unknown label", svm, "1 1:1\n3 1:1", ReadOptions{Labels: []float64{1, 2}}, 2, "not one of the 2 known labels"},
		{"too many classes", svm, many.String(), ReadOptions{MaxClasses: 10}, 11, "10 classes"},
		{"third label", svm, "1 1:1\n2 1:1\n3 1:1", ReadOptions{Task: Binary}, 3, "2 classes"},
		{"one class", svm, "1 1:1\n1 1:2", ReadOptions{}, 0, "two classes"},
		{"no feature anywhere", svm, "1\n2", ReadOptions{}, 0, "no example has a feature"},
		{"long line", svm, "1 1:1\n2" + long, ReadOptions{}, 2, "longer than"},

		{"empty CSV", table, "", ReadOptions{}, 0, "no examples"},
		{"only a header", table, "a,b\n", ReadOptions{}, 0, "no examples"},
		{"short row", table, "1,2,3\n1,2", ReadOptions{}, 2, "2 fields, want 3 like the first row"},
		{"long row", table, "a,b,c\n1,2,3\n1,2,3,4", ReadOptions{}, 3, "4 fields"},
		{"field missing", table, "1,2,3\n1,,3", ReadOptions{}, 2, "column 2"},
		{"half a header", table, "1,x\n2,3", ReadOptions{}, 1, "column 2"},
		{"NaN in CSV", table, "1,2\n2,NaN", ReadOptions{}, 2, "not finite"},
		{"label in CSV", table, "1,2\n2.5,3", ReadOptions{}, 2, "column 1: label"},
		{"one column", table, "1;2\n3;4", ReadOptions{}, 1, "separator"},
		{"label column", table, "1,2", ReadOptions{LabelColumn: 3}, 1, "label column 3"},
		{"label column from the end", table, "1,2", ReadOptions{LabelColumn: -3}, 1, "label column -3"},
		{"Dim", table, "1,2,3", ReadOptions{Dim: 3}, 1, "2 features, want 3"},
		{"MaxDim", table, "1,2,3", ReadOptions{MaxDim: 1}, 1, "MaxDim"},
		{"MaxValues", table, "1,2,3\n2,3,4", ReadOptions{MaxValues: 3}, 2, "MaxValues"},
		{"open quote", table, "1,\"2\n3\",4", ReadOptions{}, 1, "quote"},

		{"bad task", svm, "1 1:1", ReadOptions{Task: 9}, 0, "task"},
		{"bad limit", table, "1,1", ReadOptions{MaxClasses: -1}, 0, "limit"},
		{"bad Dim", table, "1,1", ReadOptions{Dim: -1}, 0, "-1 features"},
		{"bad labels", svm, "1 1:1", ReadOptions{Labels: []float64{2, 1}}, 0, "ascending"},
		{"labels of regression", svm, "1 1:1", ReadOptions{Task: Regression, Labels: []float64{1, 2}}, 0, "regression"},
		{"labels of binary", svm, "1 1:1", ReadOptions{Task: Binary, Labels: []float64{1, 2, 3}}, 0, "two"},
		{"bad comma", table, "1,1", ReadOptions{Comma: '"'}, 0, "separate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.read(strings.NewReader(tt.text), tt.opts)
			var pe *ParseError
			if !errors.As(err, &pe) {
				t.Fatalf("error %v is no ParseError", err)
			}
			if pe.Line != tt.line || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q: want line %d and %q", err, tt.line, tt.want)
			}
			if len(err.Error()) > 300 {
				t.Errorf("the error is %d bytes long", len(err.Error()))
			}
		})
	}
}

// TestReadTruncatedGzip: that the file is cut is what is reported, not what is
// wrong with the line it is cut in.
func TestReadTruncatedGzip(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "%d,%v,%v\n", i%3, float64(i)/7, math.Sqrt(float64(i)))
	}
	b := gzipped(t, []byte(text.String()))
	for _, n := range []int{3, len(b) / 2, len(b) - 3} {
		_, err := ReadCSV(bytes.NewReader(b[:n]), ReadOptions{})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut to %d of %d bytes: %v", n, len(b), err)
		}
	}
}

// TestReadLIBSVMAllocation: a high index within the limits costs no more than
// the dense result.
func TestReadLIBSVMAllocation(t *testing.T) {
	hostile.AtMost(t, 1<<20, func() {
		if _, err := ReadLIBSVM(strings.NewReader("1 1:1\n2 1048576:1"), ReadOptions{MaxValues: 1 << 20}); err == nil {
			t.Error("no error")
		}
	})
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	want := &Split{2, 1, []float32{5, 6}, []float64{0, 1}, []float64{1, 2}}
	for name, b := range map[string][]byte{
		"a.csv":     []byte("1,5\n2,6\n"),
		"b.CSV.gz":  gzipped(t, []byte("1,5\n2,6\n")),
		"c.libsvm":  []byte("1 1:5\n2 1:6\n"),
		"d.txt.gz":  gzipped(t, []byte("1 1:5\n2 1:6\n")),
		"no-suffix": []byte("1 1:5\n2 1:6\n"),
	} {
		path := filepath.Join(dir, name)
		writeFile(t, path, b)
		got, sum, err := ReadFile(path, ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sameSplit(t, got, want)
		if len(sum) != 64 {
			t.Errorf("%s: sum %q", name, sum)
		}
		_, err = hashVerified(path, manifestFile{Size: int64(len(b)), SHA256: sum})
		if err != nil {
			t.Errorf("%s: the sum is not the file's: %v", name, err)
		}
	}
	path := filepath.Join(dir, "bad.csv")
	writeFile(t, path, []byte("1,5\n2,x\n"))
	if _, _, err := ReadFile(path, ReadOptions{}); err == nil || !strings.Contains(err.Error(), path+": line 2: ") {
		t.Errorf("bad file: %v", err)
	}
	if _, _, err := ReadFile(filepath.Join(dir, "none"), ReadOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// sameSplit fails unless two splits are equal.
func sameSplit(t interface {
	Helper()
	Fatalf(string, ...any)
}, got, want *Split) {
	t.Helper()
	if got.N != want.N || got.Dim != want.Dim || !slices.Equal(got.X, want.X) || !slices.Equal(got.Y, want.Y) ||
		!slices.Equal(got.Labels, want.Labels) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}

// original returns the label that the file had for target y.
func original(s *Split, task Task, y float64) float64 {
	switch task {
	case Classification:
		return s.Labels[int(y)]
	case Binary:
		return s.Labels[int(y+1)/2]
	}
	return y
}

func formatFloat(v float64, bits int) string { return strconv.FormatFloat(v, 'g', -1, bits) }

// libsvmText writes a split as LIBSVM, without its zeros.
func libsvmText(s *Split, task Task) string {
	var b strings.Builder
	for i, y := range s.Y {
		b.WriteString(formatFloat(original(s, task, y), 64))
		for j, v := range s.Row(i) {
			if v != 0 {
				fmt.Fprintf(&b, " %d:%s", j+1, formatFloat(float64(v), 32))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// csvText writes a split as CSV, with the label last.
func csvText(s *Split, task Task) string {
	var b strings.Builder
	for i, y := range s.Y {
		for _, v := range s.Row(i) {
			b.WriteString(formatFloat(float64(v), 32) + ",")
		}
		b.WriteString(formatFloat(original(s, task, y), 64) + "\n")
	}
	return b.String()
}

// TestReadRoundTrip writes random splits in either format and reads them back.
func TestReadRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		task := rapid.SampledFrom([]Task{Classification, Binary, Regression}).Draw(t, "task")
		s := &Split{N: rapid.IntRange(1, 12).Draw(t, "n"), Dim: rapid.IntRange(1, 6).Draw(t, "dim")}
		if task != Regression {
			most := 5
			if task == Binary {
				most = 2
			}
			label := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-100, 100).Draw(t, "label")) })
			s.Labels = rapid.SliceOfNDistinct(label, 2, most, rapid.ID[float64]).Draw(t, "labels")
			slices.Sort(s.Labels)
		}
		feature := rapid.OneOf(rapid.Just(float32(0)), rapid.Float32())
		for range s.N {
			for range s.Dim {
				s.X = append(s.X, feature.Draw(t, "feature"))
			}
			switch task {
			case Classification:
				s.Y = append(s.Y, float64(rapid.IntRange(0, len(s.Labels)-1).Draw(t, "class")))
			case Binary:
				s.Y = append(s.Y, rapid.SampledFrom([]float64{-1, 1}).Draw(t, "class"))
			case Regression:
				s.Y = append(s.Y, rapid.Float64().Draw(t, "target"))
			}
		}
		got, err := ReadLIBSVM(strings.NewReader(libsvmText(s, task)), ReadOptions{Task: task, Labels: s.Labels, Dim: s.Dim})
		if err != nil {
			t.Fatalf("LIBSVM: %v", err)
		}
		sameSplit(t, got, s)
		if got, err = ReadCSV(strings.NewReader(csvText(s, task)), ReadOptions{Task: task, Labels: s.Labels, LabelColumn: -1, Header: HeaderNo}); err != nil {
			t.Fatalf("CSV: %v", err)
		}
		sameSplit(t, got, s)
	})
}

// fuzzOptions are small limits, and one of the tasks.
func fuzzOptions(task uint8) ReadOptions {
	return ReadOptions{Task: Task(task % 3), MaxDim: 1000, MaxValues: 10_000, MaxClasses: 50}
}

// readMost is what a reader may allocate in all: some times the text, which may
// be packed, and the values.
func readMost(b []byte, opts ReadOptions) int {
	text := len(b)
	if bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		text *= 1032
	}
	return 64*text + 64*int(opts.MaxValues) + 1<<20
}

// checkRead fails unless a split that was read keeps the readers' promises.
func checkRead(t *testing.T, s *Split, opts ReadOptions) {
	t.Helper()
	if s.N < 1 || s.Dim < 1 || s.Dim > opts.MaxDim || int64(s.N)*int64(s.Dim) > opts.MaxValues {
		t.Fatalf("N = %d, Dim = %d", s.N, s.Dim)
	}
	checkSplit(t, s, s.N, s.Dim)
	if (opts.Task == Regression) != (s.Labels == nil) || len(s.Labels) > opts.MaxClasses {
		t.Fatalf("labels %v", s.Labels)
	}
	for _, y := range s.Y {
		switch opts.Task {
		case Classification:
			if y != math.Trunc(y) || y < 0 || int(y) >= len(s.Labels) {
				t.Fatalf("class %v of %d", y, len(s.Labels))
			}
		case Binary:
			if y != 1 && y != -1 {
				t.Fatalf("class %v", y)
			}
		case Regression:
			if math.IsNaN(y) || math.IsInf(y, 0) {
				t.Fatalf("target %v", y)
			}
		}
	}
}

func FuzzReadLIBSVM(f *testing.F) {
	for _, text := range []string{
		"3 1:0.5 3:2\n-1\n+7 2:1e-3 # comment\n",
		"1 1:1\r\n2 4000000000:1",
		"-0 1:1\n0 2:-0\n1 1:0x1p-3\n",
		"1 2:1 2:3", "1 0:1", "1 qid:3 1:1", "nan 1:inf", "\xef\xbb\xbf1 1:1\n2 1:1", "#\n\n",
	} {
		f.Add([]byte(text), uint8(0))
		f.Add([]byte(text), uint8(2))
	}
	f.Add(gzipped(f, []byte("1 1:1\n-1 1:2\n")), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, task uint8) {
		opts := fuzzOptions(task)
		var s *Split
		var err error
		hostile.AtMost(t, readMost(b, opts), func() { s, err = ReadLIBSVM(bytes.NewReader(b), opts) })
		if err != nil {
			return
		}
		checkRead(t, s, opts)
		opts.Labels, opts.Dim = s.Labels, s.Dim
		again, err := ReadLIBSVM(strings.NewReader(libsvmText(s, opts.Task)), opts)
		if err != nil {
			t.Fatalf("written and read again: %v", err)
		}
		sameSplit(t, again, s)
	})
}

func FuzzReadCSV(f *testing.F) {
	for _, text := range []string{
		"8,0.5,1\n2,-2,3\n", "label,\"x, first\",y\n8,0.5,1\n2,-2,3", "1,2,3\n1,2", "1,,2", "\"1\",\" 2\"\n2,3",
		"1;2\n2;3", "a,b\n", "1,\"2\n3\",4", "1,nan\n2,1e39", "\xef\xbb\xbf1,1\n2,1",
	} {
		f.Add([]byte(text), uint8(0), 1, ',')
		f.Add([]byte(text), uint8(2), -1, ';')
	}
	f.Add(gzipped(f, []byte("1,1\n-1,2\n")), uint8(1), 0, ',')
	f.Fuzz(func(t *testing.T, b []byte, task uint8, column int, comma rune) {
		opts := fuzzOptions(task)
		opts.LabelColumn, opts.Comma = column, comma
		var s *Split
		var err error
		hostile.AtMost(t, readMost(b, opts), func() { s, err = ReadCSV(bytes.NewReader(b), opts) })
		if err != nil {
			return
		}
		checkRead(t, s, opts)
		again, err := ReadCSV(strings.NewReader(csvText(s, opts.Task)),
			ReadOptions{Task: opts.Task, Labels: s.Labels, Dim: s.Dim, LabelColumn: -1, Header: HeaderNo})
		if err != nil {
			t.Fatalf("written and read again: %v", err)
		}
		sameSplit(t, again, s)
	})
}
