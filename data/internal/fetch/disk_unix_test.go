//go:build unix

package fetch

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// asFetcher makes the test binary fetch the URL in it into the working folder.
const asFetcher = "FETCH_TEST_URL"

// TestFullDisk gives a process a limit on the size of its files, which fails
// writes as a full disk does: it is told at once, no mirror is blamed, and what
// was saved stays.
func TestFullDisk(t *testing.T) {
	if url := os.Getenv(asFetcher); url != "" {
		f := file(".")
		f.URLs = []string{url}
		_, _, err := impatient().Get(t.Context(), f)
		var local *LocalError
		var of *MirrorError
		if !errors.As(err, &local) || errors.As(err, &of) || !strings.HasPrefix(err.Error(), "can't be saved: write ") {
			t.Errorf("error %v", err)
		}
		return
	}
	m := newMirror(t, serve("1", whole))
	cmd := exec.Command("sh", "-c", `trap '' XFSZ; ulimit -f 200; exec "$0" "$@"`, os.Args[0], "-test.run", "^TestFullDisk$")
	cmd.Env = append(os.Environ(), asFetcher+"="+m.URL+"/file")
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := left(t, cmd.Dir); got != "file.partial" || len(m.asked) != 1 {
		t.Errorf("left behind: %s; asked %d times", got, len(m.asked))
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root writes to every folder")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	var local *LocalError
	if _, _, err := impatient().Get(t.Context(), file(dir, newMirror(t, serve("1", whole)))); !errors.As(err, &local) {
		t.Errorf("error %v", err)
	}
}
