package fetch

import (
	"fmt"
	"os"
	"path/filepath"

	"polkrepro/internal/files"
)

// Lock makes a folder if there is none and takes it for this process alone,
// until the file returned is closed. The error wraps ErrLocked if another has
// it, else it is a *LocalError. The lock file stays: removing it would let two
// others lock two different files of the same name.
func Lock(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, &LocalError{err}
	}
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, &LocalError{err}
	}
	switch ok, err := files.TryLock(f); {
	case err != nil:
		f.Close()
		return nil, &LocalError{fmt.Errorf("lock %s: %w", f.Name(), err)}
	case !ok:
		f.Close()
		return nil, fmt.Errorf("%w: another process is fetching into %s; wait for it", ErrLocked, dir)
	}
	return f, nil
}
