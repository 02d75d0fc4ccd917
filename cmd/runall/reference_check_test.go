//go:build check

package main

import (
	"path/filepath"
	"runtime"
	"testing"

	"polkrepro/data"
	"polkrepro/record"
)

// TestCheckReference makes the tables, figures and verdicts of
// results/reference anew from its records, without training. Only the figures that show
// examples need data; TestSealFrom has none.
func TestCheckReference(t *testing.T) {
	dir, err := filepath.Abs("../../results/reference")
	if err != nil {
		t.Fatal(err)
	}
	if !record.Sealed(dir) {
		t.Fatal("results/reference is not sealed")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("figures, unlike records, are the same bit for bit only on amd64")
	}
	f, folder := data.Finder{Dir: realData}, realData
	pictures := realData != "" && f.Available(data.Ref{Name: "mnist"}) == nil && f.Available(data.Ref{Name: "brodatz"}) == nil
	if !pictures {
		t.Log("without MNIST and Brodatz figure 1 is left out")
		folder = "/nonexistent"
	}
	t.Chdir(t.TempDir())
	t.Setenv(data.EnvDir, folder)
	checkReference(t, dir, pictures)
}
