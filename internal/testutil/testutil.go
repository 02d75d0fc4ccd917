// Package testutil has what the tests of several packages need.
package testutil

import (
	"errors"
	"io/fs"
	"net/http"
	"os"

	"polkrepro/kernel"
)

// Names returns the names of what is in a folder, sorted; none if there is no
// folder. t is a *testing.T or a *rapid.T.
func Names(t interface {
	Helper()
	Fatal(args ...any)
}, dir string) []string {
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

// RoundTripper makes a function an http.RoundTripper.
type RoundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls f.
func (f RoundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Score returns the values at x of the functions of an expansion, by the definition
// f_c(x) = Σ_j w_jc κ(d_j, x).
func Score(f *kernel.Expansion, x []float32) []float64 {
	out := make([]float64, f.Outputs)
	for j := range f.Order() {
		for c, w := range f.Weights(j) {
			out[c] += w * f.Kernel.Eval(f.Dict.At(j), x)
		}
	}
	return out
}
