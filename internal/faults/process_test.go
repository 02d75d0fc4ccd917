//go:build check && linux

package faults

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// patience is when a process that goes on is taken for one that hangs.
const patience = 3 * time.Minute

// nobody is the user without rights that root starts processes as.
const nobody = 65534

// A launch says how a process is started.
type launch struct {
	binary   string // default: runall as it is built
	args     []string
	umask    string // default: the test's own
	files    int    // limit on open files; 0: none
	tmp      string // TMPDIR; default: a folder of the trial
	unrooted bool   // without root's rights
}

// A process is a runall at work.
type process struct {
	cmd            *exec.Cmd
	words          []string // of runall's command line
	stdout, stderr bytes.Buffer
	begun          time.Time
	watchdog       *time.Timer
	hung           bool
	done           chan struct{}
}

// start starts a process in a folder. The calling goroutine has to be locked to
// its thread and outlive the process, which is killed with the thread.
func start(tb testing.TB, dir string, l launch) *process {
	tb.Helper()
	command := append([]string{l.binary}, l.args...)
	words := command
	if l.files > 0 {
		words = append([]string{"sh", "-c", `ulimit -n "$0"; exec "$@"`, strconv.Itoa(l.files)}, words...)
	}
	if l.umask != "" {
		words = append([]string{"sh", "-c", `umask "$0"; exec "$@"`, l.umask}, words...)
	}
	p := &process{cmd: exec.Command(words[0], words[1:]...), words: command, begun: time.Now(), done: make(chan struct{})}
	if l.tmp == "" {
		l.tmp = filepath.Join(dir, "tmp")
	}
	p.cmd.Dir = dir
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + l.tmp, "POLK_OFFLINE=1"}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if l.unrooted && os.Getuid() == 0 {
		p.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	p.watchdog = time.AfterFunc(patience, func() {
		p.hung = true
		p.cmd.Process.Signal(syscall.SIGQUIT) // shows where
		time.AfterFunc(time.Second, func() { p.cmd.Process.Kill() })
	})
	go func() {
		p.cmd.Wait() // its error is in the state
		p.watchdog.Stop()
		close(p.done)
	}()
	return p
}

// within reports whether the process ends before it is so old.
func (p *process) within(age time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(time.Until(p.begun.Add(age))):
		return false
	}
}

// wait waits for the end and returns the exit status, −1 of a process that a
// signal ended.
func (p *process) wait() int {
	<-p.done
	return p.cmd.ProcessState.ExitCode()
}

// killed reports whether a signal ended the process, and which.
func (p *process) killed() (syscall.Signal, bool) {
	status := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return status.Signal(), status.Signaled()
}
