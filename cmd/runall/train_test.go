package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
	"polkrepro/online"
)

// trees returns n rows of CSV: two features, then a label that depends on the first.
func trees(n int) []string {
	rng := rand.New(rand.NewPCG(1, 0))
	rows := make([]string, n)
	for i := range rows {
		x := 3 * rng.Float64()
		rows[i] = fmt.Sprintf("%.3f,%.3f,%s\n", x, rng.Float64(), []string{"elm", "oak", "yew"}[int(x)])
	}
	return rows
}

// put writes a file into a new folder and returns its path.
func put(t *testing.T, name string, lines ...string) string {
	t.Helper()
	return putIn(t, t.TempDir(), name, strings.Join(lines, ""))
}

// putIn writes a file, which may be a script, and returns its path.
func putIn(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	testutil.NoError(t, os.WriteFile(path, []byte(text), 0o777))
	return path
}

// contents returns the contents of a file.
func contents(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	testutil.NoError(t, err)
	return string(b)
}

// must runs a command line that must succeed, and returns its output.
func must(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := call(t, args...)
	if code != 0 {
		t.Fatalf("runall %s: exit status %d: %s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// A model whose file can't be written is kept beside it, complete.
func TestModelIsKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m")
	must(t, "train", put(t, "rows.csv", trees(60)...), "--label", "last", "--no-tune", "--out", path)
	m, err := readModel(path, online.Read)
	testutil.NoError(t, errors.Join(err, m.Finish())) // as train saves it
	taken := filepath.Join(dir, "taken", "m")         // a folder, since the training began
	testutil.NoError(t, os.MkdirAll(filepath.Join(taken, "x"), 0o777))
	err = saveModel(m, taken)
	kept, _ := filepath.Glob(filepath.Join(dir, "taken", "runall-model-*.polk"))
	if len(kept) != 1 || contents(t, kept[0]) != contents(t, path) || err.Error() != "replace "+taken+": file exists; the model is kept in "+kept[0] {
		t.Errorf("%q, %v", kept, err)
	}
	t.Setenv("TMPDIR", dir)
	if err := saveModel(m, filepath.Join(dir, "none", "m")); !strings.Contains(fmt.Sprint(err), "; the model is kept in "+dir) {
		t.Error(err)
	}
}

// Features are scaled before they are rounded to float32. So neither an offset nor a unit affects
// a model of scaled features, including timestamps in seconds and identifiers above 10⁸.
func TestOffsetsDoNotMatter(t *testing.T) {
	for _, scale := range []string{"unit", "standard"} {
		var plain float64
		for i, of := range []func(x float64) float64{
			func(x float64) float64 { return x },
			func(x float64) float64 { return 1.7e9 + 1000*x },
			func(x float64) float64 { return 1e8 + x },
			func(x float64) float64 { return 1e-42 * x },
			func(x float64) float64 { return 1e60 * x },
		} {
			rng := rand.New(rand.NewPCG(3, 0))
			rows := make([]string, 1500)
			for j := range rows {
				x, y := 3*rng.Float64(), 3*rng.Float64()
				rows[j] = fmt.Sprintf("%.17g,%.17g,%s\n", of(x), of(y), []string{"elm", "oak", "yew"}[(int(x)+int(y))%3])
			}
			file, model := put(t, "rows.csv", rows...), filepath.Join(t.TempDir(), "m.polk")
			must(t, "train", file, "--label", "last", "--scale", scale, "--bandwidth", "0.2", "--epochs", "2", "--no-tune", "--out", model)
			var got float64
			_, rest, _ := strings.Cut(must(t, "evaluate", model, file), "error ")
			if _, err := fmt.Sscan(rest, &got); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				plain = got
			}
			if diff := got - plain; !(diff <= 0.5) || diff < -0.5 {
				t.Errorf("--scale %s, transformation %d: error %.2f %%, want the %.2f %% of the plain features", scale, i, got, plain)
			}
		}
	}
}

// Training works for targets in any unit.
func TestTargetsInAnyUnit(t *testing.T) {
	for _, unit := range []string{"e-200", "", "e130"} {
		lines := make([]string, 200)
		for i := range lines {
			lines[i] = fmt.Sprintf("%d%s,%d\n", i%20, unit, i%20)
		}
		file, model := put(t, "t.csv", lines...), filepath.Join(t.TempDir(), "m")
		must(t, "train", file, "--loss", "squared", "--no-tune", "--epochs", "5", "--out", model)
		first, _, _ := strings.Cut(must(t, "predict", model, put(t, "p.csv", "10\n")), "\n")
		v, err := strconv.ParseFloat(first, 64)
		if want, _ := strconv.ParseFloat("10"+unit, 64); err != nil || !(v >= 0.9*want) || v > 1.1*want {
			t.Errorf("unit %q: predicted %s, want about 10", unit, first)
		}
	}
}
