//go:build check

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/harness"
	"polkrepro/internal/testutil"
	"polkrepro/record"
	"polkrepro/report"
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

// filesBelow returns the contents of the files in a folder by their paths.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(name)] = string(text)
		return err
	})
	testutil.NoError(t, err)
	return out
}

// needData are the figures that show examples of data sets.
var needData = []string{"figures/contact.png", "figures/figure1.png"}

// checkReference remakes the tables, figures and verdicts of a sealed folder and compares them
// byte for byte. It compares the pictures with examples of MNIST or Brodatz only if withPictures
// is true.
func checkReference(t *testing.T, dir string, withPictures bool) {
	t.Helper()
	out := t.TempDir()
	if code, _, stderr := call(t, "report", "--results", dir, "--out", out); code != 0 {
		t.Fatalf("report: exit %d: %s", code, stderr)
	}
	again, sealed := filesBelow(t, out), filesBelow(t, dir)
	compared := 0
	for name, want := range sealed {
		folder, _, _ := strings.Cut(name, "/")
		if folder != "tables" && folder != "figures" || !withPictures && slices.Contains(needData, name) {
			continue
		}
		compared++
		if got, ok := again[name]; !ok {
			t.Errorf("%s is not in the report of the records", name)
		} else if got != want {
			t.Errorf("%s is not what the report of the records has", name)
		}
	}
	for name := range again {
		if _, ok := sealed[name]; !ok && report.Kept(name) {
			t.Errorf("%s is not in the reference: the records give it", name)
		}
	}
	if compared < 6 {
		t.Errorf("%d files compared", compared)
	}
	code, verdicts, stderr := call(t, "verify", "--results", dir, "--json")
	if code == harness.ExitFailed || code == harness.ExitUsage || verdicts != sealed["verdicts.json"] {
		t.Errorf("verify: exit %d, same verdicts: %v, %s", code, verdicts == sealed["verdicts.json"], stderr)
	}
}
