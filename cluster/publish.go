package cluster

import (
	"errors"
	"os"
	"path/filepath"

	"polkrepro/internal/files"
)

// recordPath and failedPath return the names of a run's records; see package
// record.
func recordPath(results, id string) string {
	return filepath.Join(results, "records", id+".jsonl")
}

func failedPath(results, id string) string {
	return filepath.Join(results, "records", id+".failed.jsonl")
}

// publish moves the sealed record of an attempt to the folder of records, on
// the same file system, by one renaming. A finished run's earlier failure is
// removed.
func publish(from, records, id string, failed bool) error {
	name := id + ".jsonl"
	if failed {
		name = id + ".failed.jsonl"
	}
	if err := os.Rename(filepath.Join(from, name), filepath.Join(records, name)); err != nil {
		return err
	}
	if !failed {
		if err := os.Remove(filepath.Join(records, id+".failed.jsonl")); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return files.SyncDir(records)
}
