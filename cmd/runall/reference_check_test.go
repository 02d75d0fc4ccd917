//go:build check

package main

import (
	"path/filepath"
	"runtime"
	"testing"

	"polkrepro/data"
	"polkrepro/internal/testutil"
	"polkrepro/record"
)

// TestCheckReference remakes the tables, figures and verdicts of results/reference from its
// records, without training: all but the example images without data, then everything with data.
func TestCheckReference(t *testing.T) {
	dir, err := filepath.Abs("../../results/reference")
	testutil.NoError(t, err)
	if !record.Sealed(dir) {
		t.Fatal("results/reference is not sealed")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("figures, unlike records, are the same bit for bit only on amd64")
	}
	t.Chdir(t.TempDir())
	t.Setenv(data.EnvDir, "/nonexistent")
	checkReference(t, dir, false)
	if f := (data.Finder{Dir: realData}); realData == "" || f.Available(data.Ref{Name: "mnist"}) != nil || f.Available(data.Ref{Name: "brodatz"}) != nil {
		t.Log("without MNIST and Brodatz figure 1 is left out")
		return
	}
	t.Setenv(data.EnvDir, realData)
	checkReference(t, dir, true)
}
