package data

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"polkrepro/data/rows"
	"polkrepro/internal/golden"
	"polkrepro/internal/testutil"
)

// npy returns an array of bytes in NumPy's format.
func npy(shape string, b []byte) []byte {
	header := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%s,), }\n", shape)
	return append(fmt.Appendf(nil, "\x93NUMPY\x01\x00%c\x00%s", len(header), header), b...)
}

// npz returns an archive of arrays.
func npz(arrays map[string][]byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, array := range arrays {
		must(must(z.Create(name + ".npy")).Write(array))
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// sample is a small data set whose features are whole numbers.
var sample = struct {
	x [][]byte
	y []byte
}{
	[][]byte{{3, 0, 200}, {1, 9, 0}, {7, 7, 7}, {0, 1, 2}, {250, 3, 3}, {4, 4, 0}, {2, 8, 1}, {9, 0, 9}, {5, 5, 6}, {6, 0, 0}},
	[]byte{1, 0, 2, 1, 0, 2, 1, 0, 2, 1},
}

// writeSample writes the examples from … to−1 of the sample in several formats.
func writeSample(t *testing.T, dir, part string, from, to int) {
	t.Helper()
	var csv, libsvm strings.Builder
	var flat []byte
	csv.WriteString("a,note,b,class,c\n")
	for i := from; i < to; i++ {
		x, y := sample.x[i], sample.y[i]
		fmt.Fprintf(&csv, "%d,\"x, y\",%d,%d,%d\n", x[0], x[1], y, x[2])
		fmt.Fprintf(&libsvm, "%d", y)
		for q, v := range x {
			if v != 0 {
				fmt.Fprintf(&libsvm, " %d:%d", q+1, v)
			}
		}
		libsvm.WriteString("\n")
		flat = append(flat, x...)
	}
	labels := sample.y[from:to]
	x, y := npy(fmt.Sprint(to-from, ", 3"), flat), npy(fmt.Sprint(to-from), labels)
	for name, b := range map[string][]byte{
		".csv": []byte(csv.String()), ".csv.gz": gzipped(t, []byte(csv.String())), ".libsvm": []byte(libsvm.String()),
		"-x.npy": x, "-y.npy": y, "-x.npy.gz": gzipped(t, x), ".npz": npz(map[string][]byte{"x": x, "y": y}),
	} {
		writeFile(t, filepath.Join(dir, part+name), b)
	}
}

// sources returns the Source of the sample in each format, by name.
func sources(dir string) map[string]Source {
	p := func(name string) string { return filepath.Join(dir, name) }
	label, ignore := rows.Column{Name: "class"}, []rows.Column{{Name: "note"}}
	return map[string]Source{
		"csv":      {Train: p("train.csv"), Test: p("test.csv"), Label: label, Columns: rows.Columns{Ignore: ignore}},
		"csv.gz":   {Train: p("train.csv.gz"), Test: p("test.csv.gz"), Label: label, Columns: rows.Columns{Ignore: ignore}},
		"numbered": {Train: p("train.csv"), Test: p("test.csv"), Label: rows.Column{Number: -2}, Columns: rows.Columns{Ignore: []rows.Column{{Number: 2}}}, Header: rows.HeaderYes},
		"libsvm":   {Train: p("train.libsvm"), Test: p("test.libsvm")},
		"npy":      {Train: p("train-x.npy"), TrainLabels: p("train-y.npy"), Test: p("test-x.npy.gz"), TestLabels: p("test-y.npy")},
		"npz":      {Train: p("train.npz:x"), TrainLabels: p("train.npz:y"), Test: p("test.npz:x"), TestLabels: p("test.npz:y")},
	}
}

// TestRepeatedRows checks that test rows that are also training rows are counted, however
// they are written, and that a test file with only such rows is an error.
func TestRepeatedRows(t *testing.T) {
	dir := t.TempDir()
	at := func(name, text string) string {
		writeFile(t, filepath.Join(dir, name), []byte(text))
		return filepath.Join(dir, name)
	}
	train := at("train.csv", "x,y,kind\n1,0.50,a\n2,5,b\n3,7,1\n")
	for text, want := range map[string]int{
		"x,y,kind\n4,0.5,a\n2,5,a\n":                   0,
		"x,y,kind\r\n\"2.0\", 5e0,\"b\"\r\n1,.5,b\r\n": 1,
		"3,7,+1\n9,9,a\n1,5e-1,a":                      2,
		"3,7,1.0\n1,0.5,a\n1,0.5,a\n":                  -1,
	} {
		_, set, err := Source{Train: train, Test: at("test.csv", text), Label: rows.Column{Number: -1}, Header: rows.HeaderAuto}.Open()
		if want < 0 && (err == nil || !strings.Contains(err.Error(), "the test data are the training data: all 3 test rows")) || want >= 0 && (err != nil || set.Repeated != want) {
			t.Errorf("%q: %v, want %d", text, err, want)
		}
	}
	_, set, err := Source{Train: at("a.libsvm", "1 1:1 3:2\n2 2:0.5\n1 1:7\n"), Test: at("b.libsvm", "+1 1:1.0 2:0 3:2 # again\n2 2:1\n")}.Open()
	if err != nil || set.Repeated != 1 {
		t.Errorf("LIBSVM: %v", err)
	}
}

func open2(t *testing.T, s Source) (Ref, *Set) {
	t.Helper()
	ref, set, err := s.Open()
	testutil.NoError(t, err)
	return ref, inMemory(set)
}

// load returns the data set of a reference as open2 does.
func load(t *testing.T, ref Ref) *Set {
	t.Helper()
	set, err := Load(ref, Finder{})
	testutil.NoError(t, err)
	return inMemory(set)
}

// inMemory returns a set with its features in memory.
func inMemory(set *Set) *Set {
	out := *set
	out.Train, out.Test = set.Train.Dense(), set.Test.Dense()
	return &out
}

// TestSourceFormats checks that the same examples give the same numbers in each format,
// whether they are opened or loaded by their reference.
func TestSourceFormats(t *testing.T) {
	dir := t.TempDir()
	writeSample(t, dir, "train", 0, 7)
	writeSample(t, dir, "test", 7, 10)
	for name, s := range sources(dir) {
		ref, set := open2(t, s)
		if set.Classes != 3 || !slices.Equal(set.Labels, []string{"0", "1", "2"}) {
			t.Errorf("%s: %d classes %q", name, set.Classes, set.Labels)
		}
		for part, split := range map[int]*Split{0: set.Train, 7: set.Test} {
			for i := range split.N {
				var x []float32
				for _, v := range sample.x[part+i] {
					x = append(x, float32(v))
				}
				if !slices.Equal(split.Row(i), x) || split.Y[i] != float64(sample.y[part+i]) {
					t.Errorf("%s: example %d is %v of class %v, want %v of class %d", name, part+i, split.Row(i), split.Y[i], x, sample.y[part+i])
				}
			}
		}
		if set.Train.N != 7 || set.Test.N != 3 {
			t.Errorf("%s: %d and %d examples", name, set.Train.N, set.Test.N)
		}
		if again := load(t, ref); !reflect.DeepEqual(again, set) {
			t.Errorf("%s: loaded %+v, want %+v", name, again, set)
		}
		if err := (Finder{}).Available(ref); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSourceIdentity checks that a reference depends on the contents alone, not on the names
// and folders of files or on whether columns are given by name or number, and that any other
// change gives another reference.
func TestSourceIdentity(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, dir := range []string{dir, other} {
		writeSample(t, dir, "train", 0, 7)
		writeSample(t, dir, "test", 7, 10)
	}
	all := sources(dir)
	base, _ := open2(t, all["csv"])
	for name, s := range map[string]Source{"moved": sources(other)["csv"], "gzip": all["csv.gz"], "by number": all["numbered"]} {
		if ref, _ := open2(t, s); ref.Content() != base.Content() {
			t.Errorf("%s: %+v, want %+v", name, ref.Content(), base.Content())
		}
	}
	renamed := all["csv"]
	renamed.Train = filepath.Join(dir, "renamed.csv")
	b := must(os.ReadFile(all["csv"].Train))
	writeFile(t, renamed.Train, b)
	if ref, _ := open2(t, renamed); ref.Content() != base.Content() || ref.Name != "renamed" {
		t.Errorf("renamed: %+v, want %+v", ref, base)
	}
	changed := all["csv"]
	changed.Train = filepath.Join(dir, "changed.csv")
	writeFile(t, changed.Train, bytes.Replace(b, []byte("250"), []byte("251"), 1))
	standard, held, seed, third, fewer, last := all["csv"], all["csv"], all["csv"], all["csv"], all["csv"], all["csv"]
	last.Test, last.Holdout, last.Ordered = "", 0.3, true
	standard.Scale = rows.ScaleStandard
	held.Test, held.Holdout = "", 0.3
	third.Test, third.Holdout = "", 0.4
	seed.Test, seed.Holdout, seed.SplitSeed = "", 0.3, 2
	fewer.Ignore = append(slices.Clone(fewer.Ignore), rows.Column{Name: "a"})
	seen := map[Ref]string{base.Content(): "base"}
	for name, s := range map[string]Source{"changed": changed, "scale": standard, "holdout": held, "fraction": third, "seed": seed, "ignore": fewer, "ordered": last} {
		ref, _ := open2(t, s)
		if before, ok := seen[ref.Content()]; ok {
			t.Errorf("%s: the reference of %s", name, before)
		}
		seen[ref.Content()] = name
	}
	built := Ref{Name: "multidist", Variant: AsPrinted, Draw: 3}
	if built.Content() != built || built.Own() || !base.Own() {
		t.Error("a data set by name is taken for files, or the other way round")
	}
}

// TestSourceScale checks that features are scaled by the range of the training part alone,
// in float64.
func TestSourceScale(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%d.5,%s\n", 1_700_000_000_000+int64(i*i%37), i%5, []string{"a", "b"}[i%2])
	}
	writeFile(t, path, []byte(b.String()))
	s := Source{Train: path, Label: rows.Column{Number: -1}, Holdout: 0.25, SplitSeed: 7}
	if _, _, err := s.Open(); err == nil || !strings.Contains(err.Error(), "scale the features") {
		t.Errorf("not scaled: %v", err)
	}
	s.Scale = rows.ScaleUnit
	_, set := open2(t, s)
	if set.Train.N != 30 || set.Test.N != 10 {
		t.Fatalf("%d and %d examples", set.Train.N, set.Test.N)
	}
	held, kept := heldOut(40, 0.25, 7)
	least, most := math.Inf(1), math.Inf(-1)
	for _, i := range kept {
		v := float64(1_700_000_000_000 + int64(i*i%37))
		least, most = min(least, v), max(most, v)
	}
	for k, i := range held {
		if want := float32((float64(1_700_000_000_000+int64(i*i%37)) - least) * (1 / (most - least))); set.Test.Row(k)[0] != want {
			t.Errorf("held-out row %d is %v, want %v", k, set.Test.Row(k)[0], want)
		}
	}
	for q := range 2 {
		low, high := set.Train.X[q], set.Train.X[q]
		for i := range set.Train.N {
			low, high = min(low, set.Train.Row(i)[q]), max(high, set.Train.Row(i)[q])
		}
		if low != 0 || high != 1 {
			t.Errorf("feature %d of the training part goes from %v to %v", q, low, high)
		}
	}
}

// TestSourceRegression: targets have mean 0 and standard deviation 1 on the training
// part, and the test part is scaled by the same numbers.
func TestSourceRegression(t *testing.T) {
	dir := t.TempDir()
	train, test := filepath.Join(dir, "train.csv"), filepath.Join(dir, "test.csv")
	writeFile(t, train, []byte("x,y\n1,10\n5,20\n2,30\n2,-20\n"))
	writeFile(t, test, []byte("x,y\n1,10\n5,1e3\n"))
	s := Source{Train: train, Test: test, Label: rows.Column{Name: "y"}, Regression: true}
	ref, set := open2(t, s)
	deviation := math.Sqrt(350) // of 10, 20, 30, −20 about 10
	want := []float64{0, 10 / deviation, 20 / deviation, -30 / deviation, 0, 990 / deviation}
	for i, y := range slices.Concat(set.Train.Y, set.Test.Y) {
		if !(math.Abs(y-want[i]) <= 1e-12) {
			t.Errorf("target %d is %v, want %v", i, y, want[i])
		}
	}
	if set.Classes != 0 || set.Labels != nil || set.Facts["target_mean"] != 10 || !(math.Abs(set.Facts["target_deviation"]-deviation) <= 1e-12) {
		t.Errorf("%d classes %q, facts %v", set.Classes, set.Labels, set.Facts)
	}
	if again := load(t, ref); !reflect.DeepEqual(again, set) {
		t.Error("loaded otherwise")
	}
	s.Regression = false
	s.Test, s.Holdout = "", 0.5
	if classes, _ := open2(t, s); classes.Content() == ref.Content() {
		t.Error("a regression is the same data as a classification")
	}
}

// TestSourceNumbers compares the numbers that files give, to the last bit, with committed
// sums. It leaves out standard scaling, because compilers fuse the sums of deviations. If
// other numbers are right, raise "data files" in spec/versions.json, so that runs
// recorded with the old numbers are not taken for runs with the new numbers.
func TestSourceNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "%d.%d,%de-3,%d\n", i*i%97, i%7, i*31%1009, i*i%3)
	}
	writeFile(t, path, []byte(b.String()))
	for want, s := range map[string]Source{
		"1e50cb0327e819c5": {},
		"fce5e3b4dd57d6f1": {Scale: rows.ScaleUnit, SplitSeed: 2},
	} {
		s.Train, s.Label, s.Holdout, s.Header = path, rows.Column{Number: -1}, 0.3, rows.HeaderNo
		_, set := open2(t, s)
		if got := SumSplits(set.Train, set.Test)[:16]; got != want {
			t.Errorf("scale %q: %s, want %s", s.Scale, got, want)
		}
	}
}

// TestSourceChanged checks that a file that was changed or removed since it was opened is not
// loaded.
func TestSourceChanged(t *testing.T) {
	dir := t.TempDir()
	writeSample(t, dir, "train", 0, 10)
	path := filepath.Join(dir, "train.csv")
	ref, _ := open2(t, Source{Train: path, Label: rows.Column{Name: "class"}, Columns: rows.Columns{Ignore: []rows.Column{{Name: "note"}}}, Holdout: 0.3})
	writeFile(t, path, append(must(os.ReadFile(path)), "1,x,2,1,3\n"...))
	if _, err := Load(ref, Finder{}); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), path) {
		t.Errorf("changed: %v", err)
	}
	testutil.NoError(t, os.Remove(path))
	if _, err := Load(ref, Finder{}); !errors.Is(err, ErrNotAvailable) || !strings.Contains(err.Error(), "missing file "+path) {
		t.Errorf("removed: %v", err)
	}
}

// TestSourceReadOnce checks that files are read once, however their options are written and whatever is held
// out, and that they are read again once they are newer.
func TestSourceReadOnce(t *testing.T) {
	dir := t.TempDir()
	writeSample(t, dir, "train", 0, 10)
	path := filepath.Join(dir, "train.csv")
	before := must(os.ReadFile(path))
	write := func(b []byte, age time.Duration) {
		writeFile(t, path, b)
		at := time.Now().Add(-age)
		testutil.NoError(t, os.Chtimes(path, at, at))
	}
	write(before, time.Hour)
	old := must(os.Stat(path)).ModTime()
	s := Source{Train: path, Label: rows.Column{Name: "class"}, Columns: rows.Columns{Ignore: []rows.Column{{Name: "note"}}}, Holdout: 0.3}
	ref, set := open2(t, s)
	writeFile(t, path, bytes.Replace(before, []byte("250"), []byte("251"), 1))
	testutil.NoError(t, os.Chtimes(path, old, old))
	if again := load(t, ref); !reflect.DeepEqual(again, set) {
		t.Error("the reference was read again")
	}
	Release()
	described, info, err := s.Describe()
	if err != nil || described != ref || info.Train != set.Train.N || info.Test != set.Test.N || info.Classes != 3 || info.Dim != 3 {
		t.Errorf("described as %+v, %+v, %v", described, info, err)
	}
	if _, err := Load(ref, Finder{}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("other rows were read after the release: %v", err)
	}
	writeFile(t, path, before)
	testutil.NoError(t, os.Chtimes(path, old, old))
	open2(t, s)
	writeFile(t, path, bytes.Replace(before, []byte("250"), []byte("251"), 1))
	testutil.NoError(t, os.Chtimes(path, old, old))
	s.Train = filepath.Join(dir, ".", "x", "..", "train.csv")
	testutil.NoError(t, os.Mkdir(filepath.Join(dir, "x"), 0o777))
	s.SplitSeed, s.Scale = 2, rows.ScaleUnit
	if other, _ := open2(t, s); other.Files.Train.SHA256 != ref.Files.Train.SHA256 {
		t.Error("another split was read again")
	}
	s.Regression, s.Label.Name = true, "a"
	if other, _ := open2(t, s); other.Files.Train.SHA256 == ref.Files.Train.SHA256 {
		t.Error("other columns were not read")
	}
	write(before, time.Second)
	for _, text := range []string{"252", "253"} { // a file that may change again within the time's resolution
		write(bytes.Replace(before, []byte("250"), []byte(text), 1), 0)
		if _, err := Load(ref, Finder{}); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestSplitsShareRows checks that a slice and parts of a split of files have its numbers, and no features of their own.
func TestSplitsShareRows(t *testing.T) {
	dir := t.TempDir()
	writeSample(t, dir, "train", 0, 7)
	writeSample(t, dir, "test", 7, 10)
	for name, s := range sources(dir) {
		s.Scale = rows.ScaleStandard
		_, set, err := s.Open()
		testutil.NoError(t, err)
		whole, last := set.Train.Dense(), HoldoutLast(set, 0.4)
		if set.Train.Dense() != whole || set.Train.X != nil || last.Train.X != nil || last.Test.X != nil {
			t.Errorf("%s: features are copied", name)
		}
		for part, from := range map[*Split]int{last.Train: 0, last.Test: 4, set.Train.Slice(2, 5): 2} {
			if want := whole.Slice(from, from+part.N); !reflect.DeepEqual(part.Dense(), want) || !slices.Equal(part.Row(1), want.Row(1)) {
				t.Errorf("%s: examples from %d are %v, want %v", name, from, part.Dense(), want)
			}
		}
	}
}

// TestSourceColumns checks that a test file is read with the columns of the training file, and that the
// means of missing values are those of the rows that are not held out.
func TestSourceColumns(t *testing.T) {
	dir := t.TempDir()
	train, test := filepath.Join(dir, "train.csv"), filepath.Join(dir, "test.csv")
	var text strings.Builder
	text.WriteString("id,c,x,kind\n")
	for i := range 40 {
		fmt.Fprintf(&text, "%d,%c,%d,%c\n", i, 'p'+i%3, i*i, 'a'+i%2)
	}
	text.WriteString("40,q,,a\n")
	testutil.NoError(t, os.WriteFile(train, []byte(text.String()), 0o666))
	testutil.NoError(t, os.WriteFile(test, []byte("kind,more,x,c,id\nb,7,5.5,p,9\na,7,,r,9\na,7,1,new,9\n"), 0o666))
	var said []string
	s := Source{Train: train, Test: test, Label: rows.Column{Name: "kind"}, Say: func(format string, args ...any) {
		said = append(said, strings.ReplaceAll(fmt.Sprintf(format, args...), dir, "DIR"))
	}}
	s.Ignore, s.Categories, s.Missing = []rows.Column{{Name: "id"}}, []rows.Column{{Name: "c"}}, rows.MissingMean
	ref, set := open2(t, s)
	const mean = 39 * 79 / 6. // of the squares
	if got, want := fmt.Sprint(set.Test.Row(0), set.Test.Row(1), set.Test.Row(2)), fmt.Sprint([]float32{1, 0, 0, 5.5}, []float32{0, 0, 1, float32(mean)}, []float32{0, 0, 0, 1}); got != want {
		t.Errorf("test rows %s, want %s", got, want)
	}
	if ref.Files.Ignore != "1" || ref.Files.Categories != "2" || ref.Files.Missing != rows.MissingMean {
		t.Errorf("%+v", ref.Files)
	}
	want := []string{
		`DIR/train.csv: missing values: 1 in 1 of 41 rows, the first in line 42, column 3 ("x"); filled in with the means of their columns`,
		`DIR/test.csv: missing values: 1 in 1 of 3 rows, the first in line 3, column 3 ("x"); filled in with the means of their columns`,
		`DIR/test.csv: warning: column 4 ("c") has levels that the training rows did not have, in 1 rows ("new" 1): they count as none`,
	}
	if !slices.Equal(said, want) {
		t.Errorf("said %q", said)
	}
	s.Test, s.Holdout = "", 0.4
	for s.SplitSeed = 1; ; s.SplitSeed++ { // until the row without x is a training row
		ref, set = open2(t, s)
		held, kept := ref.Files.HeldOut(41)
		if slices.Contains(held, 40) {
			continue
		}
		sum := 0.
		for _, i := range kept[:len(kept)-1] {
			sum += float64(i * i)
		}
		if got, want := set.Train.Row(len(kept) - 1)[3], sum/float64(len(kept)-1); math.Abs(float64(got)/want-1) > 1e-6 {
			t.Errorf("mean %v, want %v", got, want)
		}
		break
	}
	if again := load(t, ref); !slices.Equal(again.Train.X, set.Train.X) {
		t.Error("loaded with other means")
	}
}

// TestSourceErrors compares the error of each invalid source, and the key that the error is
// about, with testdata/source.golden. To update the file:
// go test ./data -run TestSourceErrors -update
func TestSourceErrors(t *testing.T) {
	dir := t.TempDir()
	table := func(header string, row func(i int) string) string {
		var b strings.Builder
		b.WriteString(header)
		for i := range 10 {
			b.WriteString(row(i) + "\n")
		}
		return b.String()
	}
	plain := table("x,y,kind\n", func(i int) string { return fmt.Sprintf("%d,%d,%s", i*i%7, i%3, []string{"a", "b"}[i%2]) })
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, []byte(text))
		return path
	}
	made := 0
	of := func(text string) Source {
		made++
		return Source{Train: file(fmt.Sprintf("f%d.csv", made), text), Label: rows.Column{Name: "kind"}, Holdout: 0.3}
	}
	with := func(s Source, change func(*Source)) Source {
		change(&s)
		return s
	}
	good := of(plain)
	labels := file("labels.npy", string(npy("4", []byte{0, 1, 0, 1})))
	arrays := func(b []byte) Source {
		made++
		return Source{Train: file(fmt.Sprintf("a%d.npy", made), string(b)), TrainLabels: labels, Holdout: 0.5}
	}
	var out strings.Builder
	for _, c := range []struct {
		name string
		Source
	}{
		{"nothing", Source{}},
		{"no label", with(good, func(s *Source) { s.Label = rows.Column{} })},
		{"no test", with(good, func(s *Source) { s.Holdout = 0 })},
		{"both tests", with(good, func(s *Source) { s.Test = s.Train })},
		{"tested on what was learned", with(good, func(s *Source) { s.Test, s.Holdout = s.Train, 0 })},
		{"holdout of all", with(good, func(s *Source) { s.Holdout = 1 })},
		{"holdout of nothing", with(good, func(s *Source) { s.Holdout = 0.001 })},
		{"seed of ordered rows", with(good, func(s *Source) { s.Ordered, s.SplitSeed = true, 3 })},
		{"seed of nothing", with(good, func(s *Source) { s.Test, s.Holdout, s.SplitSeed = labels, 0, 3 })},
		{"format", with(good, func(s *Source) { s.Format = "xls" })},
		{"scale", with(good, func(s *Source) { s.Scale = "minmax" })},
		{"header", with(good, func(s *Source) { s.Header = "maybe" })},
		{"a built-in name", with(good, func(s *Source) { s.Name = "mnist" })},
		{"a bad name", with(good, func(s *Source) { s.Name = "My data" })},
		{"missing file", with(good, func(s *Source) { s.Train = filepath.Join(dir, "none.csv") })},
		{"a folder", with(good, func(s *Source) { s.Train, s.Format = dir, rows.FormatCSV })},
		{"empty file", with(good, func(s *Source) { s.Train = file("empty.csv", "") })},
		{"unknown label", with(good, func(s *Source) { s.Label.Name = "class" })},
		{"label out of range", with(good, func(s *Source) { s.Label = rows.Column{Number: 4} })},
		{"name without header", with(good, func(s *Source) { s.Header = rows.HeaderNo })},
		{"ignored label", with(good, func(s *Source) { s.Ignore = []rows.Column{{Number: 3}} })},
		{"ignored all", with(good, func(s *Source) { s.Ignore = []rows.Column{{Number: 1}, {Number: 2}} })},
		{"kept label", with(good, func(s *Source) { s.Keep = []rows.Column{{Name: "kind"}} })},
		{"a regression of words", with(good, func(s *Source) { s.Regression = true })},
		{"a regression of one number", with(good, func(s *Source) {
			s.Regression, s.Label.Name = true, "z"
			s.Train = file("same.csv", table("x,z\n", func(i int) string { return fmt.Sprintf("%d,7.5", i*i%7) }))
		})},
		{"two of a name", of(strings.Replace(plain, "x,y,kind", "kind,y,kind", 1))},
		{"id", of(strings.Replace(plain, "x,y", "Id,y", 1))},
		{"pandas' index", of(strings.Replace(plain, "x,y", "Unnamed: 0,y", 1))},
		{"pandas' index without name", of(strings.Replace(plain, "x,y", ",y", 1))},
		{"a running number", of(table("t,y,kind\n", func(i int) string { return fmt.Sprintf("%d,%d,%s", i+4, i%3, []string{"a", "b"}[i%2]) }))},
		{"a running number without header", with(of(table("", func(i int) string { return fmt.Sprintf("%d,%d.5,k%d", i, i%3, i%2) })), func(s *Source) { s.Label = rows.Column{Number: 3} })},
		{"one class", of(strings.ReplaceAll(plain, ",b\n", ",a\n"))},
		{"two spellings", of(strings.ReplaceAll(strings.ReplaceAll(plain, ",a\n", ",1\n"), ",b\n", ",01\n"))},
		{"no labels", Source{Train: labels, Holdout: 0.5}},
		{"labels of CSV", with(good, func(s *Source) { s.TrainLabels = labels })},
		{"other length", arrays(npy("3, 2", []byte{1, 2, 3, 4, 5, 6}))},
		{"a formula", with(good, func(s *Source) { s.Train = file("=1+1.csv", plain) })},
		{"other test columns", with(good, func(s *Source) {
			s.Test, s.Holdout = file("test1.csv", strings.Replace(plain, "x,y,kind", "x,z,kind", 1)), 0
		})},
		{"another class", with(good, func(s *Source) {
			s.Test, s.Holdout = file("test2.csv", strings.Replace(plain, ",b\n", ",c\n", 1)), 0
		})},
		{"LIBSVM test of more features", Source{Train: file("a.libsvm", "1 1:1\n2 2:1\n"), Test: file("b.libsvm", "1 3:1\n")}},
		{"too large for float32", with(of(strings.Replace(plain, "\n4,2,", "\n4,1e300,", 1)), func(s *Source) {})},
	} {
		ref, set, err := c.Open()
		var wrong *rows.OptionError
		switch {
		case !errors.As(err, &wrong) || set != nil:
			t.Errorf("%s: %v, want an OptionError", c.name, err)
			continue
		case errors.Is(err, ErrNotAvailable) != (c.name == "missing file") || errors.Is(err, ErrNotAvailable) && ref.Name != "none":
			t.Errorf("%s: %v of %v", c.name, err, ref)
		}
		fmt.Fprintf(&out, "== %s\n%s: %s\n", c.name, wrong.Key, strings.ReplaceAll(err.Error(), dir, "DIR"))
	}
	golden.Check(t, "testdata/source.golden", out.String())
}

// TestSourceKeepsColumns checks that a column that seems to number the rows is a feature if
// Source.Keep names it.
func TestSourceKeepsColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.csv")
	var b strings.Builder
	b.WriteString("id,t,kind\n")
	for i := range 12 {
		fmt.Fprintf(&b, "%d,%d,%s\n", i*i, i, []string{"a", "b"}[i%2])
	}
	writeFile(t, path, []byte(b.String()))
	s := Source{Train: path, Label: rows.Column{Name: "kind"}, Holdout: 0.5, Columns: rows.Columns{Keep: []rows.Column{{Name: "id"}, {Name: "t"}}}}
	ref, set := open2(t, s)
	if set.Train.Dim != 2 {
		t.Errorf("%d features", set.Train.Dim)
	}
	if again := load(t, ref); !reflect.DeepEqual(again, set) {
		t.Error("loaded otherwise")
	}
}

// FuzzSource opens files of any bytes. Arrays get a file with the labels of four rows. The
// result is an error, or the same data set that Load returns for the reference.
func FuzzSource(f *testing.F) {
	f.Add("f.csv", []byte("a,b,class\n1,2,x\n3,4,y\n5,6,x\n7,7,y\n"))
	f.Add("f.csv", []byte("class,,a\r\n1,0,1\r\n2,1,2\r\n"))
	f.Add("f.csv", gzipped(f, []byte("\xef\xbb\xbf\"class\",\"a\"\n1,1e-3\n2,-7\n")))
	f.Add("f.npy", []byte("\x93NUMPY\x03\x00\x10\x00\x00\x00{'shape': (1,)}  "))
	x, y := npy("4, 2", []byte("abcdefgh")), npy("4", []byte{0, 1, 0, 1})
	f.Add("f.npy", x)
	f.Add("f.npz", npz(map[string][]byte{"x": x, "y": y}))
	f.Add("f.npz", npz(map[string][]byte{"x": y, "y": x}))
	f.Add("f.npz", []byte("PK\x05\x06"+strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		s := Source{Train: path, Format: rows.FormatOf(name), Holdout: 0.5, Scale: rows.ScaleStandard}
		switch {
		case s.Format == rows.FormatNPZ:
			path += ".npz"
			s.Train, s.TrainLabels = path+":x", path+":y"
		case rows.IsArray(s.Format):
			s.TrainLabels = filepath.Join(dir, "y")
			writeFile(t, s.TrainLabels, y)
		case rows.IsTable(s.Format):
			s.Label.Name = "class"
		}
		writeFile(t, path, b)
		ref, set, err := s.Open()
		if err != nil {
			if len(err.Error()) > 4<<10 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		set = inMemory(set)
		for _, s := range []*Split{set.Train, set.Test} {
			if s.N < 1 || s.Dim < 1 || len(s.X) != s.N*s.Dim || len(s.Y) != s.N {
				t.Fatalf("%d examples of %d features in %d values", s.N, s.Dim, len(s.X))
			}
			for _, v := range s.X {
				if v-v != 0 {
					t.Fatal("a feature is not finite")
				}
			}
			for _, y := range s.Y {
				if !(y >= 0 && y < float64(set.Classes)) {
					t.Fatalf("class %v of %d", y, set.Classes)
				}
			}
		}
		if again := load(t, ref); !reflect.DeepEqual(again, set) {
			t.Error("loaded otherwise")
		}
	})
}
