package data

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/internal/hostile"
	"polkrepro/internal/testutil"
)

// needReal returns a finder of the real data, from this package's folder. It skips the test
// if a data set is missing.
func needReal(t *testing.T, name string) Finder {
	t.Helper()
	var f Finder
	if os.Getenv(EnvDir) == "" {
		f.Dir = filepath.Join("..", sharedDir)
	}
	testutil.Need(t, f.Available(Ref{Name: name}))
	return f
}

// idxBytes returns an IDX file of unsigned bytes.
func idxBytes(data []byte, dims ...uint32) []byte {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
	}
	return append(b, data...)
}

func gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	must(zw.Write(b))
	testutil.NoError(t, zw.Close())
	return buf.Bytes()
}

// tinyMNIST writes four IDX files of n and 2n examples to a folder, and
// returns the manifest's entry with their sizes and sums.
func tinyMNIST(t *testing.T, dir string, n int, zip bool) *manifestSet {
	t.Helper()
	m := *must(lookup("mnist"))
	m.Files = slices.Clone(m.Files)
	files := make([][]byte, 4)
	for part, n := range []int{n, 2 * n} {
		pixels, labels := make([]byte, n*mnistSide*mnistSide), make([]byte, n)
		for i := range pixels {
			pixels[i] = byte(i)
		}
		for i := range labels {
			labels[i] = byte(i % mnistClasses)
		}
		files[2*part] = idxBytes(pixels, uint32(n), mnistSide, mnistSide)
		files[2*part+1] = idxBytes(labels, uint32(n))
	}
	for i, b := range files {
		name := m.Files[i].Name
		m.Files[i] = entry(name, b, true)
		if zip {
			name, b = name+".gz", gzipped(t, b)
		}
		writeFile(t, filepath.Join(dir, name), b)
	}
	return &m
}

func writeFile(t *testing.T, path string, b []byte) {
	t.Helper()
	testutil.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	testutil.NoError(t, os.WriteFile(path, b, 0o644))
}

func TestLoadMNISTTiny(t *testing.T) {
	for _, zip := range []bool{false, true} {
		dir := t.TempDir()
		s := must(loadMNIST(tinyMNIST(t, dir, 12, zip), Ref{}, Finder{Dir: dir}))
		checkSplit(t, s.Train, 12, 784)
		checkSplit(t, s.Test, 24, 784)
		if s.Train.X[0] != 0 || s.Train.X[255] != 1 || s.Train.X[51] != float32(51.0/255) {
			t.Errorf("pixels 0, 255, 51 are %v, %v, %v", s.Train.X[0], s.Train.X[255], s.Train.X[51])
		}
		if s.Train.Y[3] != 3 || s.Train.Y[11] != 1 {
			t.Errorf("labels %v", s.Train.Y)
		}
	}
}

// TestLoadCorrupt checks that files with wrong sums are corrupt, not unavailable, and that
// the error names the file and its sums and says what to do.
func TestLoadCorrupt(t *testing.T) {
	dir := t.TempDir()
	tinyMNIST(t, dir, 3, true)
	m := must(lookup("mnist"))
	_, err := Load(Ref{Name: "mnist"}, Finder{Dir: dir})
	if !errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNotAvailable) {
		t.Fatalf("got %v, want ErrCorrupt", err)
	}
	for _, want := range []string{".gz", "SHA-256", replaceIt} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	for _, f := range m.Files {
		if strings.Contains(err.Error(), f.Name) && !strings.Contains(err.Error(), f.SHA256) {
			t.Errorf("error %q names %s but not its sum", err, f.Name)
		}
	}
	path := filepath.Join(dir, m.Files[0].Name+".gz")
	b := must(os.ReadFile(path))
	writeFile(t, path, b[:len(b)/2])
	if _, err = Load(Ref{Name: "mnist"}, Finder{Dir: dir}); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "unexpected EOF") {
		t.Errorf("truncated gzip: %v", err)
	}
	for _, row := range Status(Finder{Dir: dir}) {
		if row.Name == "mnist" && (!row.Available || row.Verified || row.Problem == "" || row.Dir != dir) {
			t.Errorf("status %+v", row)
		}
	}
}

func TestHashVerifiedOversize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	writeFile(t, path, []byte("abcdef"))
	var tee strings.Builder
	const abcdef = "bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4721"
	err := hashVerified(path, manifestFile{Name: "f", Size: 3, SHA256: "?"}, &tee)
	if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "6 bytes with SHA-256 "+abcdef) || tee.String() != "abc" {
		t.Errorf("%v; the first bytes are %q", err, tee.String())
	}
}

// TestHashVerifiedBomb checks that a file that is larger than the manifest says takes little
// memory.
func TestHashVerifiedBomb(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bomb.gz")
	writeFile(t, path, gzipped(t, bytes.Repeat([]byte("x"), 1<<25)))
	hostile.AtMost(t, 1<<20, func() {
		if err := hashVerified(path, entry("bomb", []byte("x"), true), io.Discard); err == nil {
			t.Error("more data than the manifest says: verified")
		}
	})
}

// TestFinderOrder checks the order of the search: the given folder, $POLK_DATA_DIR,
// data/cache, ../shared/data, and in each the subfolder first. Incomplete folders are
// skipped.
func TestFinderOrder(t *testing.T) {
	root := t.TempDir()
	work := filepath.Join(root, "work")
	testutil.NoError(t, os.Mkdir(work, 0o755))
	t.Chdir(work)
	t.Setenv(EnvDir, filepath.Join("..", "env"))
	finder := Finder{Dir: filepath.Join("..", "flag")}
	places := []string{"../flag/mnist", "../flag", "../env/mnist", "../env", "data/cache/mnist", "data/cache", "../shared/data/mnist", "../shared/data"}
	m := must(lookup("mnist"))
	err := finder.Available(Ref{Name: "mnist"})
	if !errors.Is(err, ErrNotAvailable) {
		t.Fatalf("nothing there: %v", err)
	}
	for _, want := range append(finder.Paths(), "download", "data/cache/mnist", EnvDir) {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	if _, err := Load(Ref{Name: "mnist"}, finder); !errors.Is(err, ErrNotAvailable) {
		t.Errorf("Load: %v", err)
	}
	// The first folder is incomplete, and has a folder in place of a file.
	for _, f := range m.Files[1:] {
		writeFile(t, filepath.Join("..", "flag", "mnist", f.Name), nil)
	}
	testutil.NoError(t, os.Mkdir(filepath.Join("..", "flag", "mnist", m.Files[0].Name), 0o755))
	if err := finder.Available(Ref{Name: "mnist"}); !errors.Is(err, ErrNotAvailable) || !strings.Contains(err.Error(), "(missing "+m.Files[0].Name+")") {
		t.Errorf("incomplete: %v", err)
	}
	for i := len(places) - 1; i >= 1; i-- {
		place := filepath.FromSlash(places[i])
		for _, f := range m.Files {
			name := f.Name
			if i%2 == 0 {
				name += ".gz"
			}
			writeFile(t, filepath.Join(place, name), nil)
		}
		paths := must(finder.locate(m))
		if filepath.Dir(paths[0]) != filepath.Clean(place) {
			t.Errorf("found %s, want %s", paths, place)
		}
	}
}

func TestResolve(t *testing.T) {
	figure := FigureDraw().Seed
	tests := []struct {
		ref, want Ref
		err       error
	}{
		{Ref{Name: "multidist"}, Ref{Name: "multidist", Variant: Calibrated, Draw: figure}, nil},
		{Ref{Name: "multidist", Variant: AsPrinted, Draw: 3}, Ref{Name: "multidist", Variant: AsPrinted, Draw: 3}, nil},
		{Ref{Name: "drift"}, Ref{Name: "drift", Draw: FigureDraw().Seed}, nil},
		{Ref{Name: "drift", Variant: AsPrinted}, Ref{}, ErrUnknown},
		{Ref{Name: "multidist", Variant: "x"}, Ref{}, ErrUnknown},
		{Ref{Name: "mnist"}, Ref{Name: "mnist"}, nil},
		{Ref{Name: "mnist", Draw: 3}, Ref{}, ErrUnknown},
		{Ref{Name: "mnist", Variant: "fashion"}, Ref{}, ErrUnknown},
		{Ref{Name: "brodatz"}, Ref{Name: "brodatz", Variant: "raw", Draw: 1}, nil},
		{Ref{Name: "brodatz", Variant: "mr8-disjoint", Draw: 2}, Ref{Name: "brodatz", Variant: "mr8-disjoint", Draw: 2}, nil},
		{Ref{Name: "brodatz", Variant: "calibrated"}, Ref{}, ErrUnknown},
		{Ref{Name: "glyphs"}, Ref{Name: "glyphs"}, nil},
		{Ref{Name: "glyphs", Draw: 1}, Ref{}, ErrUnknown},
		{Ref{Name: "weaves", Variant: "contrast"}, Ref{Name: "weaves", Variant: "contrast", Draw: 1}, nil},
		{Ref{Name: "weaves", Variant: "disjoint"}, Ref{}, ErrUnknown},
		{Ref{Name: "iris"}, Ref{}, ErrUnknown},
		{Ref{}, Ref{}, ErrUnknown},
	}
	for _, tt := range tests {
		got, err := tt.ref.Resolve()
		if !errors.Is(err, tt.err) || err == nil && got != tt.want {
			t.Errorf("%s: %v, %v; want %v, %v", tt.ref, got, err, tt.want, tt.err)
		}
		if err != nil {
			if _, err := Load(tt.ref, Finder{}); !errors.Is(err, tt.err) {
				t.Errorf("Load(%s): %v", tt.ref, err)
			}
			if err := (Finder{}).Available(tt.ref); !errors.Is(err, tt.err) {
				t.Errorf("Available(%s): %v", tt.ref, err)
			}
		}
	}
	if got := (Ref{Name: "multidist", Variant: AsPrinted, Draw: 3}).String(); got != "multidist/as-printed/3" {
		t.Errorf("String = %q", got)
	}
}

func TestList(t *testing.T) {
	var names []string
	for _, info := range List() {
		names = append(names, info.Name)
		if info.Title == "" || info.Source == "" || info.Licence == "" || info.Classes < 2 || info.Dim < 1 || info.Train < 1 || info.Test < 1 {
			t.Errorf("incomplete: %+v", info)
		}
		if (info.Kind == KindFile) != (info.How != "") {
			t.Errorf("%s: kind %s, how to get it: %q", info.Name, info.Kind, info.How)
		}
	}
	if got := join(names); got != "multidist, mnist, brodatz, fashion-mnist, letter, satimage, a9a, glyphs, weaves, drift" {
		t.Errorf("data sets %s", got)
	}
}

// TestStatusNothing checks that without files generated data sets are available, with the
// committed sums on every platform, and that others are reported as missing.
func TestStatusNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(EnvDir, "")
	rows := Status(Finder{})
	for _, row := range rows {
		if want := row.Kind == KindGenerated; row.Available != want || row.Verified != want || (row.Problem == "") != want {
			t.Errorf("%+v", row)
		}
	}
	if _, err := Load(Ref{Name: "brodatz"}, Finder{}); !errors.Is(err, ErrNotAvailable) {
		t.Errorf("Load: %v", err)
	}
}

func TestMNIST(t *testing.T) {
	s := must(Load(Ref{Name: "mnist"}, needReal(t, "mnist")))
	if len(s.Train.X) != 60000*784 || s.Train.N != 60000 || len(s.Test.X) != 10000*784 || s.Test.N != 10000 || s.Classes != 10 {
		t.Fatalf("%d and %d examples, %d classes", s.Train.N, s.Test.N, s.Classes)
	}
	// The first labels of the published files, and the test set's counts.
	for i, want := range []float64{5, 0, 4, 1, 9, 2, 1, 3, 1, 4} {
		if s.Train.Y[i] != want {
			t.Errorf("training label %d is %v, want %v", i, s.Train.Y[i], want)
		}
	}
	count := make([]int, 10)
	for _, y := range s.Test.Y {
		count[int(y)]++
	}
	for d, want := range []int{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009} {
		if count[d] != want {
			t.Errorf("%d test images of %d, want %d", count[d], d, want)
		}
	}
	if len(s.Sums) != 4 {
		t.Errorf("sums %v", s.Sums)
	}
}
