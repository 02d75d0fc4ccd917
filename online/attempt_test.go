package online

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"polkrepro/polk/prune"
)

// Training that is stopped within a large step, or within the last one, does not
// wait for its end, and goes on bit for bit.
func TestStopWithinAStep(t *testing.T) {
	if raceEnabled {
		t.Skip("half a minute of arithmetic, of one goroutine that asks its context")
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	rows := table(2099, "multi-logistic", 31)
	write(t, path, []byte(strings.Join(rows, "\n")))
	opt := options("multi-logistic", Source{Path: path})
	opt.Settings.Batch, opt.Settings.Pruner, opt.Settings.PrunerParams = 1050, prunerOrder, prune.Params{"order": 20}
	began := time.Now()
	want := saved(t, mustTrain(t, opt))
	whole := time.Since(began)
	for _, at := range []int{1049, 2099} { // rows before the first step, and before the last
		ctx, cancel := context.WithCancel(context.Background())
		stopping := opt
		var told time.Time
		stopping.SaveEvery, stopping.Save = at, func(*Model) error {
			time.AfterFunc(5*time.Millisecond, func() { told = time.Now(); cancel() })
			return nil
		}
		m, err := Train(ctx, stopping)
		took := time.Since(told)
		if !errors.Is(err, ErrStopped) || m == nil || m.Rows() != int64(at) || !m.Unfinished() {
			t.Fatalf("stopped at row %d: %v", at, err)
		}
		if took > whole/4+100*time.Millisecond {
			t.Errorf("stopped at row %d after %v; all takes %v", at, took, whole)
		}
		again := opt
		again.Resume, again.Continue = reread(t, m), true
		if !bytes.Equal(saved(t, mustTrain(t, again)), want) {
			t.Errorf("stopped at row %d: another model than without", at)
		}
	}
}

// A file that is changed between two passes is not trained on; once it is as it
// was, training goes on.
func TestChangedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	rows := table(300, "multi-hinge", 24)
	text := []byte(strings.Join(rows, "\n"))
	write(t, path, text)
	opt := options("multi-hinge", Source{Path: path})
	opt.Epochs = 3
	want := saved(t, mustTrain(t, opt))
	changed := opt
	changed.SaveEvery = 200
	changed.Save = func(m *Model) error {
		write(t, path+".new", append(bytes.Clone(text), "\n1,2,elm"...))
		return os.Rename(path+".new", path)
	}
	m, err := Train(context.Background(), changed)
	if !errors.Is(err, ErrChanged) || m == nil || m.Rows() != 300 || !m.Unfinished() {
		t.Fatal(err)
	}
	write(t, path, text)
	again := opt
	again.Resume, again.Continue = reread(t, m), true
	if !bytes.Equal(saved(t, mustTrain(t, again)), want) {
		t.Error("it goes on to another model")
	}
}

// A change that size and date do not show is found at the end of the pass, also
// by a process that goes on; nothing of that pass is returned.
func TestHiddenChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	rows := table(300, "multi-hinge", 24)
	write(t, path, []byte(strings.Join(rows, "\n")))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	opt := options("multi-hinge", Source{Path: path})
	opt.Epochs = 3
	half := stopAt(t, opt, 320)
	change := func() {
		i := 200
		other := append(append([]string{}, rows[:i]...), rows[i+1])
		other = append(append(other, rows[i]), rows[i+2:]...)
		write(t, path, []byte(strings.Join(other, "\n")))
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	changed := opt
	changed.SaveEvery = 250
	changed.Save = func(m *Model) error {
		change()
		return nil
	}
	if m, err := Train(context.Background(), changed); m != nil || !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	again := opt
	again.Resume, again.Continue = reread(t, half), true
	if m, err := Train(context.Background(), again); m != nil || !errors.Is(err, ErrChanged) {
		t.Errorf("going on: %v", err)
	}
}
