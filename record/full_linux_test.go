package record

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestFullDisk writes to /dev/full, on which every write fails as on a full
// disk.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	partial := filepath.Join(dir, "abc.jsonl.partial")
	if err := os.Symlink("/dev/full", partial); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, header("abc")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Create: %v", err)
	}
	// The disk fills up during the run.
	if err := os.Remove(partial); err != nil {
		t.Fatal(err)
	}
	w, err := Create(dir, header("abc"))
	if err != nil {
		t.Fatal(err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	w.file = full
	if err := w.Point(points[0]); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Point: %v", err)
	}
	if err := w.Finish(final); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Finish: %v", err)
	}
	if err := w.Abort(); err != nil {
		t.Errorf("Abort: %v", err)
	}
	if got := names(t, dir); got != "abc.jsonl.partial" {
		t.Errorf("files %q", got)
	}
}
