package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"polkrepro/internal/testutil"
)

// alone runs the test again in a separate process, which may call Freeze. It reports whether
// this is the separate process, and returns a folder for both processes.
func alone(t *testing.T) (dir string, ok bool) {
	t.Helper()
	const key = "FILES_TEST_ALONE"
	if dir, ok = os.LookupEnv(key); ok {
		return dir, true
	}
	dir = t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), key+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return dir, false
}

// TestFreeze checks that Freeze waits for held steps, including nested steps. Unfinished
// folders can then be removed, and finished folders stay.
func TestFreeze(t *testing.T) {
	dir, ok := alone(t)
	if !ok {
		return
	}
	half, done := filepath.Join(dir, "half"), filepath.Join(dir, "done")
	for _, path := range []string{half, done} {
		testutil.NoError(t, os.Mkdir(path, 0o777))
	}
	Unfinished(half)
	Unfinished(done)()
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
	RemoveUnfinished()
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
