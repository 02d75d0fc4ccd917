package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/harness"
	"polkrepro/internal/testutil"
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
	return putIn(t, dir, "rows.csv", b.String())
}

// TestBenchOverwrites: bench overwrites neither a spec that is not of its search nor data with the
// name of an output file. It refuses before its search.
func TestBenchOverwrites(t *testing.T) {
	dir := t.TempDir()
	results := filepath.Join(dir, "results")
	testutil.NoError(t, os.Mkdir(results, 0o777))
	rows := benchRows(t, dir)
	const mine = "# runall bench, search 0\n"
	spec := putIn(t, results, "bench-rows.yaml", mine)
	code, _, stderr := call(t, "bench", rows, "--label", "kind", "--results", results)
	if contents(t, spec) != mine || code != harness.ExitUsage || !strings.Contains(stderr, spec+" is not of this search") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	file := filepath.Join(results, predictionsName)
	testutil.NoError(t, os.Rename(rows, file))
	if code, _, stderr := call(t, "bench", file, "--label", "kind", "--results", results); code != harness.ExitUsage || !strings.Contains(stderr, "is the same file as "+file) {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
