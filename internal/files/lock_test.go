//go:build unix || windows

package files

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTryLock: of two open files of one name only one has the lock, until it is
// closed. The system takes two openings by one process for two holders.
func TestTryLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first, second := open(), open()
	defer second.Close()
	if ok, err := TryLock(first); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := TryLock(second); ok || err != nil {
		t.Errorf("locked twice: %v, %v", ok, err)
	}
	first.Close()
	if ok, err := TryLock(second); !ok || err != nil {
		t.Errorf("not free after its holder closed it: %v, %v", ok, err)
	}
}
