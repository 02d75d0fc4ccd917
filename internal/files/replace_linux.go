package files

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// replaceable returns an error if a regular file can't be replaced by renaming another one: a file
// that is mounted, or one of another user in a sticky folder. The file stays as it is, because
// what is to replace it is a folder: the system refuses that only after it has checked the rights.
func replaceable(path string) error {
	var s unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, 0, &s); err == nil && s.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 {
		return errors.New("it is mounted by itself, and no other file can replace it: mount its folder, or name another file")
	}
	dir := filepath.Join(filepath.Dir(path), fmt.Sprintf(".runall-%d.tmp", rand.Uint64()))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	defer os.Remove(dir)
	if err := unix.Rename(dir, path); err != unix.ENOTDIR {
		return err
	}
	return nil
}
