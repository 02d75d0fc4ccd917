package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/harness"
	"polkrepro/internal/testutil"
	"polkrepro/record"
	"polkrepro/report"
	"polkrepro/spec"
)

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

func TestSealFrom(t *testing.T) {
	if testing.Short() {
		t.Skip("renders every table and figure several times, as a script does once")
	}
	t.Chdir(t.TempDir()) // no data set is in any of the default places
	dir := filepath.Join(t.TempDir(), "new", "reference")
	code, stdout, stderr := call(t, "seal", "--from", madeUp(t, spec.ProfileSmoke), "--profile", "smoke", "--results", dir)
	if code != 0 || !strings.Contains(stdout, "12 of them records") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	files := filesBelow(t, dir)
	for name := range files {
		if part, _, _ := strings.Cut(name, "/"); !slices.Contains([]string{record.ManifestName, "figures", "records", "tables", "verdicts.json"}, part) {
			t.Errorf("%s is in the reference", name)
		}
	}
	checkReference(t, dir, true)
	// Sealed from itself, the reference stays the same.
	if code, _, stderr := call(t, "seal", "--from", dir, "--profile", "smoke", "--results", dir); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	again := filesBelow(t, dir)
	if len(again) != len(files) {
		t.Errorf("%d files, were %d", len(again), len(files))
	}
	for name, text := range files {
		if again[name] != text {
			t.Errorf("%s has changed", name)
		}
	}
}
