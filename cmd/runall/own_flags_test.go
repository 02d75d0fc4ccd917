package main

import (
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/harness"
)

// A flag that has no effect beside another, or on this model and these rows, is a
// usage error that names it; nothing is written.
func TestFlagsWithoutEffect(t *testing.T) {
	sequential(t)
	dir := t.TempDir()
	rows := trees(1500)
	file, bad := put(t, "trees.csv", rows...), put(t, "bad.csv", append(rows[:1300:1300], "1,2,fir\n")...)
	libsvm := put(t, "trees.libsvm", "1 1:2\n-1 2:3\n")
	finished, unfinished := filepath.Join(dir, "finished"), filepath.Join(dir, "unfinished")
	must(t, "train", file, "--label", "last", "--order", "8", "--out", finished)
	if code, _, stderr := call(t, "train", bad, "--label", "last", "--order", "8", "--classes", "elm,oak,yew", "--no-tune", "--out", unfinished); code != harness.ExitFailed {
		t.Fatalf("exit status %d: %s", code, stderr)
	}
	fresh := func(args ...string) []string {
		return append([]string{"train", file, "--label", "last", "--out", filepath.Join(dir, "none")}, args...)
	}
	for _, tt := range []struct {
		want string
		args []string
	}{
		{"--format can't be changed", []string{"train", file, "--resume", unfinished, "--format", "csv"}},
		{"--format can't be changed", []string{"train", file, "--resume", unfinished, "--format", "libsvm"}},
		{"--header can't be changed", []string{"train", file, "--resume", unfinished, "--header", "no"}},
		{"--epochs can't be changed", []string{"train", file, "--resume", unfinished, "--epochs", "2"}},
		{"--label is for CSV and TSV files", []string{"train", libsvm, "--label", "first", "--loss", "squared-hinge", "--out", filepath.Join(dir, "none")}},
		{"--label is for CSV and TSV files", fresh("--format", "libsvm")},
		{"--classes", fresh("--loss", "squared", "--classes", "1,2")},
		{"takes no parameter order", fresh("--order", "5", "--pruner-params", "order=6")},
		{"takes no parameter order", fresh("--pruner-params", "order=6")},
		{"--bandwidth", fresh("--kernel", "polynomial", "--bandwidth", "1")},
		{"--offset", fresh("--offset", "1")},
		{"--degree", fresh("--degree", "2")},
		{"--parsimony", fresh("--parsimony", "1", "--pruner", "oldest", "--pruner-params", "order=6")},
		{"--epochs is for files", []string{"train", "-", "--format", "csv", "--epochs", "2", "--out", filepath.Join(dir, "none")}},
		{"--probability", []string{"predict", finished, file, "--probability"}},
	} {
		code, _, stderr := call(t, tt.args...)
		if code != harness.ExitUsage || !strings.Contains(stderr, tt.want) {
			t.Errorf("runall %s: exit status %d, want %q: %s", strings.Join(tt.args, " "), code, tt.want, stderr)
		}
	}
	for _, name := range savedFlags {
		value := map[string]string{"loss": "hinge", "scale": "unit", "kernel": "gaussian", "pruner": "komp-order", "pruner-params": "order=8", "label": "last", "no-tune": "true"}[name]
		if value == "" {
			value = "2"
		}
		code, _, stderr := call(t, "train", file, "--resume", finished, "--"+name+"="+value)
		if code != harness.ExitUsage || !strings.Contains(stderr, "--"+name+" can't be changed") {
			t.Errorf("--resume --%s: exit status %d: %s", name, code, stderr)
		}
	}
	// The same flags where they have an effect.
	must(t, "train", file, "--resume", finished, "--format", "csv", "--epochs", "2", "--out", filepath.Join(dir, "further"))
	must(t, "train", file, "--resume", unfinished, "--skip", "0", "--format", "csv", "--out", filepath.Join(dir, "further"))
}
