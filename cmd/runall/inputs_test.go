package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"polkrepro/experiments"
	"polkrepro/harness"
)

// linked are ways to name a file a second time.
var linked = map[string]func(old, new string) error{
	"path":          func(old, new string) error { return nil },
	"symbolic link": os.Symlink,
	"hard link":     os.Link,
}

// TestOutputIsInput: no command writes over a file that it reads, under any name,
// and says so before it reads anything.
func TestOutputIsInput(t *testing.T) {
	sequential(t)
	if runtime.GOOS == "windows" {
		t.Skip("links need rights")
	}
	rows := put(t, "rows.csv", trees(1200)...)
	spec := put(t, "spec.yaml", "epochs: 1\n")
	model := filepath.Join(t.TempDir(), "model")
	must(t, "train", rows, "--label", "last", "--out", model)
	results := madeUp(t, experiments.ProfileSmoke)
	records, err := filepath.Glob(filepath.Join(harness.RecordsDir(results), "*.jsonl"))
	if err != nil || len(records) == 0 {
		t.Fatal(records, err)
	}
	experiment := shortSpec
	for how, link := range linked {
		for name, c := range map[string]struct {
			file string
			args func(out string) []string
		}{
			"train":      {rows, func(out string) []string { return []string{"train", rows, "--label", "last", "--out", out} }},
			"spec":       {spec, func(out string) []string { return []string{"train", rows, "--spec", spec, "--out", out} }},
			"resume":     {rows, func(out string) []string { return []string{"train", rows, "--resume", out} }},
			"both":       {rows, func(out string) []string { return []string{"train", rows, "--resume", model, "--out", out} }},
			"settings":   {experiment, func(out string) []string { return []string{"settings", experiment, "--out", out} }},
			"export":     {records[0], func(out string) []string { return []string{"export", "--results", results, "--out", out} }},
			"csv stdout": {records[0], func(out string) []string { return []string{"export", "--results", results, ">>", out} }},
			"predict":    {rows, func(out string) []string { return []string{"predict", model, rows, ">>", out} }},
			"evaluate":   {model, func(out string) []string { return []string{"evaluate", model, rows, ">>", out} }},
		} {
			out := filepath.Join(t.TempDir(), "out")
			if how == "path" {
				out = filepath.Dir(c.file) + "/./" + filepath.Base(c.file)
			} else if err := link(c.file, out); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(c.file)
			if err != nil {
				t.Fatal(err)
			}
			code, _, stderr := redirected(t, c.args(out)...)
			after, err := os.ReadFile(c.file)
			if code != harness.ExitUsage || !strings.Contains(stderr, "is the same file as") && !strings.Contains(stderr, "is a symbolic link") && !strings.Contains(stderr, "holds records") {
				t.Errorf("%s, %s: exit %d, %s", name, how, code, stderr)
			}
			if strings.Count(stderr, "\n") != 1 || err != nil || !bytes.Equal(before, after) {
				t.Errorf("%s, %s: the file is another one (%v), or more was said: %s", name, how, err, stderr)
			}
		}
	}
	// A model may be trained further under its own name, but not through a link,
	// which the new one would replace, or beside its other name.
	must(t, "train", rows, "--resume", model, "--out", model)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(model, link); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--resume", link}, {"--resume", link, "--out", link}, {"--resume", link, "--out", model}, {"--resume", model, "--out", link}} {
		if code, _, stderr := call(t, append([]string{"train", rows}, args...)...); code != harness.ExitUsage {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
}

// redirected is call with standard output appended to the file after ">>".
func redirected(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	n := len(args) - 2
	if n < 0 || args[n] != ">>" {
		return call(t, args...)
	}
	f, err := os.OpenFile(args[n+1], os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var errs bytes.Buffer
	code = run(args[:n], f, &errs)
	return code, "", errs.String()
}

// TestSealedFolders: no command writes into a sealed results folder or beside records,
// under any name, and what it is asked to write there is refused before its work; every
// command that reads a folder whose seal is broken says so. Where a folder is not sealed,
// nothing but records goes where its records are.
func TestSealedFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	rows, spec := put(t, "rows.csv", trees(120)...), shortSpec
	sealed, open := madeUp(t, experiments.ProfileSmoke), madeUp(t, experiments.ProfileSmoke)
	first, _ := filepath.Glob(filepath.Join(harness.RecordsDir(open), "*.jsonl"))
	must(t, "seal", "--results", sealed)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(sealed, link); err != nil {
		t.Fatal(err)
	}
	before := [2]map[string]string{filesBelow(t, sealed), filesBelow(t, open)}
	files := func(dir string) [][]string {
		out := filepath.Join(dir, "file")
		return [][]string{
			{"train", rows, "--label", "last", "--out", out}, {"train", rows, "--resume", out},
			{"export", "--results", open, "--out", out}, {"export", "--results", open, ">>", out},
			{"report", "--results", open, "--out", dir}, {"report", "--results", open, "--format", "html", "--out", out},
			{"settings", spec, "--out", out},
		}
	}
	var lines [][]string
	for _, dir := range []string{sealed, link, filepath.Join(link, "new", "folder"), harness.RecordsDir(sealed), harness.RecordsDir(open)} {
		lines = append(lines, files(dir)...)
	}
	for _, dir := range []string{sealed, link, filepath.Join(sealed, "new")} {
		lines = append(lines, [][]string{
			{"reproduce", spec, "--results", dir}, {"reproduce", spec, "--shard", "1/2", "--results", dir}, {"merge", open, "--results", dir},
			{"compare", "--profile", "smoke", "--results", dir}, {"bench", rows, "--results", dir},
		}...)
	}
	lines = append(lines, []string{"report", "--results", sealed, "--format", "html"}, []string{"train", rows, "--label", "last", "--out", first[0]})
	for _, args := range lines {
		if n := len(args); args[n-2] == ">>" {
			if err := os.WriteFile(args[n-1], nil, 0o666); err != nil { // as a shell does
				continue
			}
		}
		code, _, stderr := redirected(t, args...)
		if args[len(args)-2] == ">>" {
			os.Remove(args[len(args)-1])
		}
		if code != harness.ExitUsage || !strings.Contains(stderr, ": name another folder than ") {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
	for i, dir := range []string{sealed, open} {
		if after := filesBelow(t, dir); !maps.Equal(after, before[i]) {
			t.Errorf("%s has changed: %d files, were %d", dir, len(after), len(before[i]))
		}
	}
	must(t, "report", "--results", sealed, "--out", filepath.Join(t.TempDir(), "report"))

	paths, _ := filepath.Glob(filepath.Join(harness.RecordsDir(sealed), "*.jsonl"))
	if err := os.Remove(paths[2]); err != nil {
		t.Fatal(err)
	}
	want := "records/" + filepath.Base(paths[2]) + " is missing"
	for _, args := range [][]string{
		{"report", "--results", sealed}, {"verify", "--results", sealed}, {"verify", "--results", open, "--reference", sealed},
		{"verify", "records", "--results", sealed}, {"verify", "records", "--results", open, "--with", sealed}, {"verify", "multiverse", "--results", sealed},
		{"explain", "table2.multidist.ksvm.polk", "--results", sealed}, {"export", "--results", sealed}, {"merge", sealed}, {"seal", "--from", sealed},
	} {
		if code, stdout, stderr := call(t, args...); code != harness.ExitIncomplete || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit %d, stdout %q, %s", args, code, stdout, stderr)
		}
	}
}
