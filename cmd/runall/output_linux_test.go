package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"polkrepro/experiments"
	"polkrepro/harness"
)

// TestFullOutput: a command that can't write what it prints has failed.
func TestFullOutput(t *testing.T) {
	sequential(t)
	results := madeUp(t, experiments.ProfileSmoke)
	rows := put(t, "rows.csv", trees(1200)...)
	model := t.TempDir() + "/model"
	must(t, "train", rows, "--label", "last", "--out", model)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range [][]string{
		{"verify", "records", "--results", results, "--with", results}, {"verify", "--results", results}, {"verify", "multiverse", "--results", results},
		{"report", "--results", results}, {"export", "--results", results}, {"export", "--results", results, "--format", "latex"},
		{"explain", "table2.multidist.ksvm.polk", "--results", results}, {"list", "methods"}, {"list", "specs", "--json"}, {"data", "status"},
		{"data", "draws", "-n", "1"}, {"seal", "--results", results}, {"version"}, {"--help"}, {"train", "--help"},
		{"predict", model, rows}, {"evaluate", model, rows}, {"train", rows, "--label", "last", "--out", model},
	} {
		var stderr bytes.Buffer
		if code := run(args, full, &stderr); code != harness.ExitFailed || strings.Count(stderr.String(), "no space left on device") != 1 {
			t.Errorf("%v: exit %d, %s", args, code, stderr.String())
		}
	}
}
