//go:build unix

package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"polkrepro/internal/testutil"
)

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	testutil.NoError(t, err)
	return info.Mode().Perm()
}

// TestMode checks that a new file has the permissions that the umask allows, that a replaced
// file keeps its permissions, and that nobody else gains access while the file is written.
func TestMode(t *testing.T) {
	for _, mask := range []int{0o022, 0o077, 0o002} {
		before := syscall.Umask(mask)
		path := filepath.Join(t.TempDir(), "model")
		err := Write(path, text("one"))
		syscall.Umask(before)
		if want := os.FileMode(0o666 &^ mask); err != nil || modeOf(t, path) != want {
			t.Errorf("umask %03o: mode %o, want %o; %v", mask, modeOf(t, path), want, err)
		}
	}
	for _, mode := range []os.FileMode{0o600, 0o640, 0o664, 0o400} {
		path := filepath.Join(t.TempDir(), "model")
		testutil.NoError(t, os.WriteFile(path, nil, 0o666))
		testutil.NoError(t, os.Chmod(path, mode))
		err := Write(path, func(w io.Writer) error {
			if during := modeOf(t, w.(*os.File).Name()); during&^(mode|0o600) != 0 {
				t.Errorf("mode %o: %o while it is written", mode, during)
			}
			return nil
		})
		if err != nil || modeOf(t, path) != mode {
			t.Errorf("mode %o became %o; %v", mode, modeOf(t, path), err)
		}
	}
}

// TestLongName checks that a file can have every name that the file system allows, and that
// Probe rejects a name that is too long.
func TestLongName(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{60, 255} {
		path := filepath.Join(dir, strings.Repeat("m", n))
		if err := errors.Join(Probe(path), Write(path, text("one"))); err != nil {
			t.Errorf("a name of %d bytes: %v", n, err)
		}
	}
	if err := Probe(filepath.Join(dir, strings.Repeat("m", 256))); !errors.Is(err, syscall.ENAMETOOLONG) {
		t.Errorf("a name of 256 bytes: %v", err)
	}
	if got := testutil.Names(t, dir); len(got) != 2 {
		t.Errorf("files %v", got)
	}
}

// TestRemoveUnfinished checks that a process that ends while it writes a file leaves no
// temporary file and leaves the file unchanged.
func TestRemoveUnfinished(t *testing.T) {
	dir, ok := alone(t)
	path := filepath.Join(dir, "model")
	if ok {
		testutil.NoError(t, Write(path, text("one")))
		Write(path, func(w io.Writer) error {
			io.WriteString(w, "half")
			Freeze()
			RemoveUnfinished()
			os.Exit(0)
			return nil
		})
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "one" || len(testutil.Names(t, dir)) != 1 {
		t.Errorf("contents %q, files %v, %v", b, testutil.Names(t, dir), err)
	}
}
