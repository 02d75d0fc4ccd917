//go:build unix

package files

import (
	"os"
	"path/filepath"
	"strings"
)

// publish gives an open file its name, locked to the end.
func publish(f *os.File, path string) error { return os.Rename(f.Name(), path) }

// removeDead removes the hidden files of a prefix that no process has locked.
// What can't be read or removed is left: it does no harm.
func removeDead(dir, prefix string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		middle, ok := strings.CutPrefix(e.Name(), prefix)
		middle, ended := strings.CutSuffix(middle, suffix)
		if ok && ended && e.Type().IsRegular() && strings.Trim(middle, "0123456789") == "" {
			removeUnlocked(filepath.Join(dir, e.Name()))
		}
	}
}

func removeUnlocked(path string) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if ok, err := TryLock(f); ok && err == nil {
		os.Remove(path)
	}
}
