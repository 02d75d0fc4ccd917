package unfinished

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestFreeze: it waits for the steps that are held, nested ones too; what is
// unfinished can then be removed, and what is done stays.
func TestFreeze(t *testing.T) {
	dir := t.TempDir()
	half, done := filepath.Join(dir, "half"), filepath.Join(dir, "done")
	for _, path := range []string{half, done} {
		if err := os.Mkdir(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	Add(half)
	Add(done)()
	release := Hold()
	over := make(chan struct{})
	go func() {
		Freeze()
		close(over)
	}()
	Hold()() // nested
	select {
	case <-over:
		t.Fatal("a step was cut in two")
	case <-time.After(20 * time.Millisecond):
	}
	release()
	<-over
	Remove()
	if _, err := os.Stat(half); !os.IsNotExist(err) {
		t.Errorf("the unfinished folder: %v", err)
	}
	if _, err := os.Stat(done); err != nil {
		t.Errorf("the finished folder: %v", err)
	}
	began := make(chan struct{})
	go func() {
		Hold()
		close(began)
	}()
	select {
	case <-began:
		t.Error("a step began afterwards")
	case <-time.After(20 * time.Millisecond):
	}
}
