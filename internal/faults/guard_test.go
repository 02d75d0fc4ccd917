//go:build check && linux

package faults

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// What the test tells its own processes.
const (
	envBase    = "FAULTS_BASE"    // the folder of all that is written; set in the process that tests
	envMounts  = "FAULTS_MOUNTS"  // set where file systems can be mounted
	envJanitor = "FAULTS_JANITOR" // the folder to remove
	envBinary  = "FAULTS_BINARY"  // a runall that is built already
)

// TestMain has the tests done by a second process, in a mount namespace of its
// own where that is allowed, and the folder they write removed by a third, which
// outlives both. So whatever ends the test, nothing is left: the system kills a
// process started here with its parent, a namespace's mounts go with its last
// process, and the third one learns from a closed pipe that it is to clean up.
func TestMain(m *testing.M) {
	if dir := os.Getenv(envJanitor); dir != "" {
		os.Exit(cleanUp(dir))
	}
	if os.Getenv(envBase) != "" {
		os.Exit(m.Run())
	}
	code, err := guarded()
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		code = 1
	}
	os.Exit(code)
}

// guarded runs the tests in another process and returns its exit status.
func guarded() (int, error) {
	base, err := os.MkdirTemp("", "faults-*")
	if err != nil {
		return 0, err
	}
	release, err := janitor(base)
	if err != nil {
		return 0, errors.Join(err, os.RemoveAll(base))
	}
	defer release()
	if err := os.Chmod(base, 0o755); err != nil { // users without rights work in it
		return 0, err
	}
	runtime.LockOSThread() // Pdeathsig is of the thread
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	worker, err := startWorker(base)
	if err != nil {
		return 0, err
	}
	go func() {
		for s := range signals {
			worker.Process.Signal(s) // it may have ended
		}
	}()
	var exit *exec.ExitError
	if err := worker.Wait(); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if code := worker.ProcessState.ExitCode(); code >= 0 {
		return code, nil
	}
	return 0, fmt.Errorf("the test ended: %v", worker.ProcessState)
}

// startWorker starts the process that tests.
func startWorker(base string) (*exec.Cmd, error) {
	start := func(flags uintptr, env ...string) (*exec.Cmd, error) {
		cmd := exec.Command(os.Args[0], os.Args[1:]...)
		cmd.Env = append(append(os.Environ(), envBase+"="+base), env...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Unshareflags: flags}
		return cmd, cmd.Start()
	}
	if os.Getuid() == 0 {
		if cmd, err := start(syscall.CLONE_NEWNS, envMounts+"=1"); err == nil {
			return cmd, nil
		}
	}
	return start(0)
}

// janitor starts a process that removes a folder when this one ends, or calls
// release.
func janitor(dir string) (release func(), err error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envJanitor+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a terminal's Ctrl-C is not for it
	alive, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		alive.Close()
		cmd.Wait()
	}, nil
}

// cleanUp waits until standard input ends and removes a folder, in which dying
// processes may be writing still.
func cleanUp(dir string) int {
	io.Copy(io.Discard, os.Stdin)
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if os.RemoveAll(dir) == nil {
			return 0
		}
	}
	return 1
}
