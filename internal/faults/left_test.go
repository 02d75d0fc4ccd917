//go:build check && linux

package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestCheckNothingLeft ends this test in the middle, by a signal and by one
// that nothing can be done about: no process, mount or file of it is left.
func TestCheckNothingLeft(t *testing.T) {
	runtime.LockOSThread() // what is started here ends with the thread
	binary := built(t)
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		tmp := t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run=^TestCheckFaults$")
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, "FAULTS_") && !strings.HasPrefix(v, "TMPDIR=") {
				cmd.Env = append(cmd.Env, v)
			}
		}
		cmd.Env = append(cmd.Env, "TMPDIR="+tmp, envBinary+"="+binary)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if !await(func() bool { return len(workingIn(t, tmp)) > 1 }) {
			t.Error("nothing was started")
		}
		cmd.Process.Signal(signal)
		cmd.Wait() // its error is the signal
		empty := func() bool {
			entries, err := os.ReadDir(tmp)
			return err == nil && len(entries) == 0 && len(workingIn(t, tmp)) == 0
		}
		if !await(empty) {
			left, _ := filepath.Glob(tmp + "/*/*") // for the message
			t.Errorf("%v: processes %v and files %v are left", signal, workingIn(t, tmp), left)
		}
		if b, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(b), tmp) {
			t.Errorf("%v: a mount is left, or %v", signal, err)
		}
	}
}

// await reports whether something comes true in time.
func await(holds func() bool) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if holds() {
			return true
		}
	}
	return false
}

// workingIn returns the processes whose working folder is below a folder.
func workingIn(t *testing.T, dir string) (pids []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if cwd, err := os.Readlink(link); err == nil && strings.HasPrefix(cwd, dir+"/") { // a process may have ended
			pids = append(pids, filepath.Base(filepath.Dir(link)))
		}
	}
	return pids
}
