//go:build unix

package data

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"polkrepro/internal/testutil"
)

// TestFileThatCannotBeLookedAt checks that a file whose existence can't be determined (here
// a link to itself) is neither missing nor corrupt: the file system's error is reported.
func TestFileThatCannotBeLookedAt(t *testing.T) {
	dir := t.TempDir()
	m := tinyMNIST(t, dir, 3, false)
	path := filepath.Join(dir, m.Files[0].Name)
	testutil.NoError(t, os.Remove(path))
	testutil.NoError(t, os.Symlink(m.Files[0].Name, path))
	finder := Finder{Dir: dir}
	if _, err := Load(Ref{Name: "mnist"}, finder); !errors.Is(err, syscall.ELOOP) || errors.Is(err, ErrNotAvailable) || errors.Is(err, ErrCorrupt) {
		t.Errorf("Load: %v", err)
	}
	for _, row := range Status(finder) {
		if row.Name == "mnist" && (row.Verified || !strings.Contains(row.Problem, "too many levels of symbolic links")) {
			t.Errorf("%+v", row)
		}
	}
}
