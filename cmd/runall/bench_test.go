package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/harness"
)

// benchRows writes a CSV file of 250 rows of two classes.
func benchRows(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("x,y,kind\n")
	for i := range 250 {
		x, y := i*37%101, i*53%89
		fmt.Fprintf(&b, "%d,%d,%s\n", x, y, map[bool]string{true: "elm", false: "oak"}[x > y])
	}
	path := filepath.Join(dir, "rows.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBenchErrors: what is wrong is said before anything is trained or written.
func TestBenchErrors(t *testing.T) {
	dir := t.TempDir()
	rows := benchRows(t, dir)
	plain := filepath.Join(dir, "rows.txt")
	if err := os.Link(rows, plain); err != nil {
		t.Fatal(err)
	}
	numbered := put(t, "numbered.csv", "id,x,kind\n1,2,elm\n2,5,oak\n")
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"", harness.ExitUsage, "accepts 1 arg(s), received 0"},
		{rows + " --label none", harness.ExitUsage, "none"},
		{rows + " --label kind --budget -1s", harness.ExitUsage, "--budget -1s: must be more than 0"},
		{rows + " --label kind --task guess", harness.ExitUsage, "must be one of ksvm"},
		{rows + " --label kind --task squared-error", harness.ExitUsage, "is not a number"},
		{rows + " --label kind --test " + rows, harness.ExitUsage, "the test data are the training data"},
		{rows + " --label kind --ignore-columns z", harness.ExitUsage, "z"},
		{plain, harness.ExitUsage, "; use --format csv"},
		{plain + " --format libsvm --label 1", harness.ExitUsage, "--label applies only to CSV"},
		{numbered + " --label kind", harness.ExitUsage, `leave it out with --ignore-columns "id", or use it as a feature with --keep-columns "id"`},
		{rows + " --label kind --results " + plain + "/results", harness.ExitUsage, "can't be written: not a directory"},
		{dir + "/gone.csv", harness.ExitIncomplete, "gone.csv"},
		{rows + " --label kind --test " + dir + "/gone.csv", harness.ExitIncomplete, "gone.csv"},
	} {
		code, _, stderr := call(t, append([]string{"bench", "--results", filepath.Join(dir, "results")}, strings.Fields(tt.args)...)...)
		if code != tt.code || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: exit %d, want %d and %q: %s", tt.args, code, tt.code, tt.want, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "results")); err == nil {
		t.Error("a results folder was made")
	}
}
