package external

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"polkrepro/internal/testutil"
)

// When this program is killed, its processes end, even one that is not reading.
func TestNothingIsLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pid")
	cmd := exec.Command(os.Args[0], "learn", "busy", path)
	testutil.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var pid []byte
	wait(t, "a process", func() bool {
		pid, _ = os.ReadFile(path)
		return bytes.HasSuffix(pid, []byte("\n"))
	})
	stat := filepath.Join("/proc", string(bytes.TrimSpace(pid)), "stat")
	alive := func() bool {
		text, err := os.ReadFile(stat)
		_, state, _ := bytes.Cut(text, []byte(") "))
		return err == nil && state[0] != 'Z' // a zombie, which its new parent has not noticed yet
	}
	if !alive() {
		t.Fatalf("%s: the process is not there", stat)
	}
	testutil.NoError(t, cmd.Process.Kill())
	wait(t, "its end", func() bool { return !alive() })
}

// wait waits until so returns true, for up to 10 s.
func wait(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s after 10 s", what)
		}
	}
}
