package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("12345"), 0o666); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(path, 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := Read(path, 4); err == nil || err.Error() != "more than 4 bytes" {
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
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "real", "link")); err != nil {
		t.Skip(err)
	}
	if err := NoLinks(dir, "none", "real"); err != nil {
		t.Error(err)
	}
	if err := NoLinks(dir, "real", "real/link"); err == nil || !strings.Contains(err.Error(), "link is a symbolic link") {
		t.Errorf("error %v", err)
	}
	if err := NoLinks(dir, "real/link/none"); err != nil {
		t.Error(err)
	}
}
