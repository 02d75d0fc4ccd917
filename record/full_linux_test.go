package record

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"polkrepro/internal/testutil"
)

// TestFullDisk: the disk fills up during the run. Every write to /dev/full
// fails as on a full disk.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, abc)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	testutil.NoError(t, err)
	testutil.NoError(t, w.file.Close())
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
	if got := names(t, dir); got != abc+".jsonl.partial" {
		t.Errorf("files %q", got)
	}
}
