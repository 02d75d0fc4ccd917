// Package golden compares the output of a test with a file in the repository.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"
)

// Update is the -update flag, with which tests write their golden files.
var Update = flag.Bool("update", false, "write the golden files of the tests that are run")

// Check compares got with the contents of a file; with -update it first writes got to
// the file. The error shows the first line that differs.
func Check(t testing.TB, path, got string) {
	t.Helper()
	if *Update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(string(file), "\n")
	for i, line := range append(strings.Split(got, "\n"), "no more lines") {
		if want = append(want, "no more lines"); line != want[i] {
			t.Errorf("%s:%d:\n got %s\nwant %s\nRun with -update, and look at the difference", path, i+1, line, want[i])
			return
		}
	}
}
