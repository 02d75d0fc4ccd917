package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"polkrepro/data"
	"polkrepro/experiments"
	"polkrepro/harness"
	"polkrepro/record"
)

// reference seals made-up records of the profile smoke and returns the folder.
func reference(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new", "reference")
	code, stdout, stderr := call(t, "seal", "--from", madeUp(t, experiments.ProfileSmoke), "--profile", "smoke", "--results", dir)
	if code != 0 || !strings.Contains(stdout, "12 of them records") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	return dir
}

// filesBelow returns the paths of the files in a folder with their contents.
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
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// needData are the figures that show examples of data sets.
var needData = []string{"figures/contact.png", "figures/figure1.png"}

// checkReference makes tables, figures and verdicts of a sealed folder again,
// with no data to be had, and compares them byte for byte. Pictures that show
// examples of MNIST or Brodatz are left out unless withPictures.
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
		if _, ok := sealed[name]; !ok && slices.Contains([]string{".csv", ".md", ".png"}, filepath.Ext(name)) && strings.Contains(name, "/") {
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
		t.Skip("renders every table and figure several times, as TestReportOfASealedFolder does once")
	}
	t.Chdir(t.TempDir()) // no data set is in any of the default places
	dir := reference(t)
	files := filesBelow(t, dir)
	for name := range files {
		if part, _, _ := strings.Cut(name, "/"); !slices.Contains([]string{record.ManifestName, "figures", "records", "tables", "verdicts.json"}, part) {
			t.Errorf("%s is in the reference", name)
		}
	}
	checkReference(t, dir, true)
	// Made of itself, it is the same.
	if code, _, stderr := call(t, "seal", "--from", dir, "--profile", "smoke", "--results", dir); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if again := filesBelow(t, dir); len(again) != len(files) {
		t.Errorf("%d files, were %d", len(again), len(files))
	} else {
		for name, text := range files {
			if again[name] != text {
				t.Errorf("%s has changed", name)
			}
		}
	}
}

// TestSealLeavesNothingOld: a part that the new reference lacks is not kept, and
// sealed, from the old one. What no seal covers stays.
func TestSealLeavesNothingOld(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: renders tables and figures, as TestReportOfASealedFolder does")
	}
	dir := reference(t)
	kept := filepath.Join(dir, "README.md")
	for _, path := range []string{filepath.Join(dir, "table1", "old.jsonl"), filepath.Join(dir, "tables", "old.csv"), kept} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, stderr := call(t, "seal", "--from", madeUp(t, experiments.ProfileSmoke), "--profile", "smoke", "--results", dir); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for name := range filesBelow(t, dir) {
		if strings.Contains(name, "old") {
			t.Errorf("%s is still there", name)
		}
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}

// TestSealRefusesToCopy: no reference is made of what is not whole, complete
// and of a known revision, and none in the place of unsealed records.
func TestSealRefusesToCopy(t *testing.T) {
	from := madeUp(t, experiments.ProfileSmoke)
	paths, err := filepath.Glob(filepath.Join(harness.RecordsDir(from), "*.jsonl"))
	if err != nil || len(paths) != 12 {
		t.Fatal(paths, err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "reference")
	refused := func(name string, status int, want string, args ...string) {
		t.Helper()
		code, _, stderr := call(t, append([]string{"seal", "--profile", "smoke", "--results", to, "--from", from}, args...)...)
		if code != status || !strings.Contains(stderr, want) || record.Sealed(to) {
			t.Errorf("%s: exit %d, %s, want %q", name, code, stderr, want)
		}
	}
	if err := os.WriteFile(paths[0], bytes.Replace(text, []byte("0.04"), []byte("0.05"), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	refused("damaged", harness.ExitIncomplete, "damaged records: "+paths[0])
	if err := os.Remove(paths[0]); err != nil {
		t.Fatal(err)
	}
	refused("missing", harness.ExitIncomplete, "without a record (1): "+filepath.Base(paths[0]))
	refused("no records", harness.ExitIncomplete, "no records in", "--from", t.TempDir())
	if err := os.WriteFile(paths[0], text, 0o666); err != nil {
		t.Fatal(err)
	}
	refused("in place of records", harness.ExitUsage, "not sealed", "--results", from)
	to = t.TempDir()
	mine := filepath.Join(to, "figures", "mine.png")
	if err := os.MkdirAll(filepath.Dir(mine), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	refused("in place of figures", harness.ExitUsage, "holds figures, which is not sealed")
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}

func TestSealInPlace(t *testing.T) {
	sequential(t)
	results := madeUp(t, experiments.ProfileSmoke)
	seal := func() (int, string, string) { return call(t, "seal", "--results", results) }
	if code, _, stderr := call(t, "seal", "--results", t.TempDir()); code != harness.ExitIncomplete || !strings.Contains(stderr, "no records") {
		t.Errorf("no records: exit %d, %s", code, stderr)
	}
	partial := filepath.Join(harness.RecordsDir(results), "abc.jsonl.partial")
	if err := os.WriteFile(partial, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := seal(); code != harness.ExitIncomplete || !strings.Contains(stderr, "unfinished, for example abc") {
		t.Errorf("an unfinished run: exit %d, %s", code, stderr)
	}
	if err := os.Remove(partial); err != nil {
		t.Fatal(err)
	}
	spoilt := filepath.Join(harness.RecordsDir(results), "abc.jsonl")
	if err := os.WriteFile(spoilt, []byte("no record"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := seal(); code != harness.ExitIncomplete || !strings.Contains(stderr, "abc.jsonl") {
		t.Errorf("a damaged record: exit %d, %s", code, stderr)
	}
	if err := os.Remove(spoilt); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := seal(); code != 0 || !strings.Contains(stdout, "12 files sealed, 12 of them records") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	paths, err := filepath.Glob(filepath.Join(harness.RecordsDir(results), "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(paths[2]); err != nil {
		t.Fatal(err)
	}
	// Sealed again, it is as it should be without that run.
	if code, _, stderr := seal(); code != 0 {
		t.Errorf("sealed again: exit %d, %s", code, stderr)
	}
	if code, _, stderr := call(t, "report", "--results", results); code != 0 {
		t.Errorf("report: exit %d, %s", code, stderr)
	}
}

// TestReportOfASealedFolder: what data this machine has makes no difference to
// it, where another report says that they are missing.
func TestReportOfASealedFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(data.EnvDir, t.TempDir())
	results := madeUp(t, experiments.ProfileSmoke)
	_, before, _ := call(t, "report", "--results", results)
	if code, _, stderr := call(t, "seal", "--results", results); code != 0 {
		t.Fatal(stderr)
	}
	_, after, _ := call(t, "report", "--results", results)
	if !strings.Contains(before, whyUnavailable) || strings.Contains(after, whyUnavailable) || !strings.Contains(after, "Table 3") {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

// whyUnavailable is what a cell says whose data are missing.
const whyUnavailable = "data not available"
