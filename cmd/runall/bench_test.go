package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/harness"
	"polkrepro/internal/files"
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

// TestBenchOverwrites: bench does not overwrite a spec that was edited or is of another file of
// the same name, nor data with the name of an output file. It refuses before its search.
func TestBenchOverwrites(t *testing.T) {
	dir := t.TempDir()
	results := filepath.Join(dir, "results")
	spec := filepath.Join(results, "bench-rows.yaml")
	for _, folder := range []string{filepath.Join(dir, "other"), results} {
		testutil.NoError(t, os.Mkdir(folder, 0o777))
	}
	rows, other := benchRows(t, dir), benchRows(t, filepath.Join(dir, "other"))
	text := files.AppendSum(sha256.New(), []byte("# runall bench, search 0\ndata: {train: \"../rows.csv\"}\n"+specSum+"\n"), "\n")
	for _, tt := range []struct{ file, text, want string }{
		{other, string(text), "bench-rows.yaml belongs to another data file, "},
		{rows, "# mine\n" + string(text), "bench-rows.yaml was edited"},
		{rows, string(text) + "\n", "bench-rows.yaml was edited"},
		{rows, "", "bench-rows.yaml was edited"},
	} {
		putIn(t, results, "bench-rows.yaml", tt.text)
		code, _, stderr := call(t, "bench", tt.file, "--label", "kind", "--results", results)
		if contents(t, spec) != tt.text || code != harness.ExitUsage || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s, %q: exit %d: %s", tt.file, tt.text, code, stderr)
		}
	}
	file := filepath.Join(results, predictionsName)
	testutil.NoError(t, os.Rename(rows, file))
	if code, _, stderr := call(t, "bench", file, "--label", "kind", "--results", results); code != harness.ExitUsage || !strings.Contains(stderr, predictionsName) {
		t.Errorf("%s as data: exit %d: %s", predictionsName, code, stderr)
	}
}
