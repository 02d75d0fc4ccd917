//go:build check && linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// mount mounts a file system in memory on a folder, which it makes.
func (t *trial) mount(dir, options string) {
	t.say("a file system on %s: %s", dir, options)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		t.tb.Fatal(err)
	}
	if err := syscall.Mount("faults", dir, "tmpfs", 0, options+",mode=755"); err != nil {
		t.tb.Fatal(err)
	}
	t.unmount = append(t.unmount, dir)
}

// remount changes how a file system is mounted.
func (t *trial) remount(dir string, flags uintptr, options string) error {
	err := syscall.Mount("faults", dir, "tmpfs", syscall.MS_REMOUNT|flags, options)
	if err == nil {
		t.say("the file system on %s: flags %#x, %s", dir, flags, options)
	}
	return err
}

// leave gives up what the trial has taken.
func (t *trial) leave() error {
	var errs []error
	for _, dir := range t.unmount {
		errs = append(errs, syscall.Unmount(dir, syscall.MNT_DETACH))
	}
	return errors.Join(append(errs, os.RemoveAll(t.dir))...)
}

// pages returns the size of so many pages of memory, for mount.
func pages(n int64) string { return fmt.Sprintf("size=%dk", 4*n) }
