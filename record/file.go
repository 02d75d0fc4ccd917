package record

import (
	"errors"
	"io"
	"os"
	"runtime"

	"polkrepro/internal/wholefile"
)

// WriteFile writes a file that appears under its name only when it is whole.
// What a killed process has left of the same file is removed.
func WriteFile(path string, write func(io.Writer) error) error {
	return wholefile.Write(path, write)
}

// SyncDir makes the renaming of files in a folder durable, where folders can be
// synced.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
