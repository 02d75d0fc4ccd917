// Package testutil has what the tests of several packages need.
package testutil

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
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
