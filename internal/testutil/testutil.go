// Package testutil has helpers for the tests of several packages.
package testutil

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"net/http"
	"os"

	"polkrepro/kernel"
)

// T is a *testing.T, a *testing.B or a *rapid.T.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Names returns the sorted names of the entries of a folder, or no names if the folder does not exist.
func Names(t T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// Need skips a test that needs data or a program if err is not nil. If
// POLK_REQUIRE_DATA is set, as in CI, the test fails instead.
func Need(t interface {
	Helper()
	Fatal(args ...any)
	Skip(args ...any)
}, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("POLK_REQUIRE_DATA") != "":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
}

// NoError ends the test if err is not nil.
func NoError(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// MustPanic fails the test unless f panics.
func MustPanic(t T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Fatal("no panic")
		}
	}()
	f()
}

// SameResult reports whether got equals the recorded numbers, to 1e-6.
func SameResult(got, recorded []float64) bool {
	same := len(got) == len(recorded)
	for i := 0; same && i < len(got); i++ {
		same = math.Abs(got[i]-recorded[i]) <= 1e-6*(1+math.Abs(recorded[i]))
	}
	return same
}

// WriteJSON writes a golden file.
func WriteJSON(t T, path string, v any) {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "\t")
	NoError(t, err)
	NoError(t, os.WriteFile(path, append(text, '\n'), 0o666))
}

// Table reads a CSV file. Each row is a map from column names to values.
func Table(t T, path string) (rows []map[string]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	NoError(t, err)
	return Rows(t, text)
}

// Rows is Table for the text of a file.
func Rows(t T, text []byte) (rows []map[string]string) {
	t.Helper()
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	for _, values := range all[1:] {
		row := make(map[string]string)
		for i, v := range values {
			row[all[0][i]] = v
		}
		rows = append(rows, row)
	}
	return rows
}

// RoundTripper adapts a function to http.RoundTripper.
type RoundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls f.
func (f RoundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Score returns the values of the functions of an expansion at x, computed by the
// definition f_c(x) = Σ_j w_jc κ(d_j, x).
func Score(f *kernel.Expansion, x []float32) []float64 {
	out := make([]float64, f.Outputs)
	for j := range f.Order() {
		for c, w := range f.Weights(j) {
			out[c] += w * f.Kernel.Eval(f.Dict.At(j), x)
		}
	}
	return out
}
