package cluster

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/record"
)

// States of a run.
const (
	StateFinished = "finished"
	StateFailed   = "failed"   // it has the record of a failure, and no other
	StateMissing  = "missing"  // it has no record
	StateDamaged  = "damaged"  // the only one it has is not whole, or of other data
	StateDisagree = "disagree" // two folders hold different records of it; neither is taken
)

// A Collection says what became of the runs of a plan.
type Collection struct {
	Plan     string `json:"plan"` // its sum
	Results  string `json:"results"`
	Runs     int    `json:"runs"`
	Finished int    `json:"finished"`
	Copied   int    `json:"copied"`   // records of finished runs that were not in the results folder
	Left     []Left `json:"left"`     // the runs that are not finished, by index
	Again    []int  `json:"again"`    // the tasks of those that are failed, missing or damaged
	Attempts int    `json:"attempts"` // what processes left that were killed, or are still at work
}

// A Left is a run that is not finished.
type Left struct {
	Index int    `json:"index"`
	ID    string `json:"id"`
	Task  int    `json:"task"`
	State string `json:"state"`
	Why   string `json:"why,omitempty"`
}

// Count returns the number of runs in a state other than finished.
func (c *Collection) Count(state string) int {
	n := 0
	for _, l := range c.Left {
		if l.State == state {
			n++
		}
	}
	return n
}

// Collect copies the records of the plan's runs from results folders into
// another, which it makes and locks. Records that are there already count, so
// that folders may be collected one after another. It changes nothing in the
// folders it reads, and nothing is lost if it is killed: every record appears
// whole, and the next call goes on.
//
// The error is that of a folder; it wraps harness.ErrLocked and
// harness.ErrUsage as harness.OpenResults has it, and harness.ErrUsage if a
// folder to read from does not exist or has a symbolic link where
// harness.CheckFolder allows none.
func (p *Plan) Collect(from []string, results string) (*Collection, error) {
	for _, dir := range from {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, harness.Usage(fmt.Errorf("%s is not a results folder", dir))
		}
		if err := harness.CheckFolder(dir); err != nil {
			return nil, err
		}
	}
	into, err := harness.OpenResults(results)
	if err != nil {
		return nil, err
	}
	defer into.Close()
	c := &Collection{Plan: p.Sum, Results: results, Runs: len(p.Runs), Left: []Left{}, Again: []int{}}
	again := make(map[int]bool)
	tasks, sums := p.taskOf(), p.sums()
	folders := append([]string{results}, from...)
	for i, r := range p.Runs {
		f := find(r.ID, sums[r.Run.Data], folders)
		if err := f.bring(results, c); err != nil {
			return nil, fmt.Errorf("results folder: %w", err)
		}
		if f.state == StateFinished {
			c.Finished++
			continue
		}
		c.Left = append(c.Left, Left{Index: i, ID: r.ID, Task: tasks[i], State: f.state, Why: f.why})
		if f.state != StateDisagree {
			again[tasks[i]] = true
		}
	}
	c.Again = append(c.Again, slices.Sorted(maps.Keys(again))...)
	c.Attempts, err = attempts(from)
	return c, err
}

// taskOf returns the task of every run.
func (p *Plan) taskOf() []int {
	tasks := make([]int, len(p.Runs))
	for k, t := range p.Tasks {
		for _, i := range t.Runs {
			tasks[i] = k
		}
	}
	return tasks
}

// A finding is what folders have of one run.
type finding struct {
	state, why string
	record     *record.Record       // of a finished run
	failed     *record.FailedRecord // of one that failed
}

// find looks for a run's records in folders, which must be of data with those
// sums; of several that are the same it takes the first.
func find(id string, sums map[string]string, folders []string) finding {
	f := finding{state: StateMissing}
	var damage error
	for _, dir := range folders {
		r, err := readRecord(dir, id)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			damage = errors.Join(damage, err)
		case !maps.Equal(r.Header.DataSums, sums):
			damage = errors.Join(damage, fmt.Errorf("%s: made from other data than the plan's", r.Path))
		case f.record == nil:
			f.record = r
		case f.record.Final.Digest != r.Final.Digest:
			return finding{state: StateDisagree, why: fmt.Sprintf("%s and %s differ", f.record.Path, r.Path)}
		}
		if failed, err := record.ReadFailed(failedPath(dir, id)); err == nil && f.failed == nil {
			f.failed = failed
		}
	}
	switch {
	case f.record != nil:
		f.state, f.failed = StateFinished, nil
	case f.failed != nil:
		f.state, f.why = StateFailed, f.failed.Failure.Error
		f.why, _, _ = strings.Cut(f.why, "\n") // without the stack of a panic
	case damage != nil:
		f.state, f.why = StateDamaged, strings.ReplaceAll(damage.Error(), "\n", "; ")
	}
	return f
}

// readRecord reads the record of a finished run, packed or not.
func readRecord(dir, id string) (*record.Record, error) {
	r, err := record.Read(recordPath(dir, id))
	if errors.Is(err, fs.ErrNotExist) {
		return record.Read(recordPath(dir, id) + ".gz")
	}
	return r, err
}

// bring copies what was found into the results folder, if it is not there.
func (f *finding) bring(results string, c *Collection) error {
	records := harness.RecordsDir(results)
	switch f.state {
	case StateFinished:
		if filepath.Dir(f.record.Path) != records {
			if err := copyFile(f.record.Path, records); err != nil {
				return err
			}
			c.Copied++
		}
		return f.removeOthers(results) // a collect that was killed may have left them
	case StateFailed:
		if filepath.Dir(f.failed.Path) != records {
			return copyFile(f.failed.Path, records)
		}
	}
	return nil
}

// removeOthers removes what the results folder has of a finished run beside its
// record: an earlier failure, and a damaged record, packed if this one is not.
func (f *finding) removeOthers(results string) error {
	id := f.record.Header.ID
	for _, path := range []string{failedPath(results, id), recordPath(results, id), recordPath(results, id) + ".gz"} {
		if filepath.Base(path) == filepath.Base(f.record.Path) {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// copyFile copies a file into a folder, where it appears whole or not at all.
func copyFile(path, dir string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	return files.Write(filepath.Join(dir, filepath.Base(path)), func(w io.Writer) error {
		_, err := io.Copy(w, from)
		return err
	})
}

// attempts counts the folders of attempts in results folders.
func attempts(folders []string) (int, error) {
	n := 0
	for _, dir := range folders {
		entries, err := os.ReadDir(filepath.Join(dir, attemptsName))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		n += len(entries)
	}
	return n, nil
}
