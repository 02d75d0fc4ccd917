package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"polkrepro/internal/testutil"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	testutil.NoError(t, os.WriteFile(path, []byte("12345"), 0o666))
	if b, err := Read(path, 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := Read(path, 4); err == nil || err.Error() != "file too large: want at most 4 bytes" {
		t.Errorf("a byte too many: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "b"), 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Read(dir, 5); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder: %v", err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if _, err := Read(filepath.Join(dir, "link"), 5); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a link: %v", err)
	}
}

func TestNoLinks(t *testing.T) {
	dir := t.TempDir()
	testutil.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o777))
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "real", "link")); err != nil {
		t.Skip(err)
	}
	if err := NoLinks(dir, "none", "real"); err != nil {
		t.Error(err)
	}
	if err := NoLinks(dir, "real", "real/link"); err == nil || !strings.Contains(err.Error(), "link is a symbolic link") {
		t.Errorf("error %v", err)
	}
	if err := errors.Join(NoLinks(dir, "real/link/none"), NoLinks(dir+"/real/link/", ".")); err != nil {
		t.Error(err)
	}
}

// TestReadNamed checks that ReadNamed follows links, that ReadIn follows only links that stay
// in the folder, and that errors name the file.
func TestReadNamed(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	root, err := os.OpenRoot(dir)
	testutil.NoError(t, err)
	defer root.Close()
	for _, path := range []string{outside, filepath.Join(dir, "a")} {
		testutil.NoError(t, os.WriteFile(path, []byte("12345"), 0o666))
	}
	for name, to := range map[string]string{"in": "a", "out": outside} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	for _, tt := range []struct {
		name          string
		limit         int64
		named, inside string // in the error; "" if the file is read
	}{
		{"a", 5, "", ""},
		{"in", 5, "", ""},
		{"out", 5, "", "escapes"},
		{"a", 4, "a: file too large", "a: file too large"},
		{".", 5, ": not a regular file", ".: not a regular file"},
		{"none", 5, "no such file", "no such file"},
	} {
		b, err := ReadNamed(filepath.Join(dir, tt.name), tt.limit)
		check(t, tt.name, b, err, tt.named)
		b, err = ReadIn(root, tt.name, tt.limit)
		check(t, tt.name+" in the folder", b, err, tt.inside)
	}
}

func check(t *testing.T, name string, b []byte, err error, want string) {
	t.Helper()
	if want == "" && (err != nil || string(b) != "12345") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %q, %v, want %q", name, b, err, want)
	}
}
