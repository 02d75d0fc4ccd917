//go:build unix

package main

import (
	"bufio"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"polkrepro/harness"
	"polkrepro/online"
)

// prompt is how soon a process that is told to stop has to end, on a machine that
// may be busy.
const prompt = 4 * time.Second

// interrupted starts processes until one is told to stop when it has got as far
// as to catch signals, and returns that one's exit status and how long it took.
func interrupted(t *testing.T, signal syscall.Signal, args ...string) (status int, took time.Duration, stderr string) {
	t.Helper()
	for wait := 200 * time.Millisecond; ; wait *= 2 {
		p := start(t, args...)
		time.Sleep(wait)
		told := time.Now()
		if err := p.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		watchdog := time.AfterFunc(4*prompt, func() { p.cmd.Process.Kill() })
		status = p.wait(t)
		watchdog.Stop()
		if status >= 0 || time.Since(told) > prompt || wait > 5*time.Second {
			return status, time.Since(told), p.stderr.String()
		}
	}
}

// TestInterruptedOpening: a pipe that nobody writes to does not keep a process
// from ending.
func TestInterruptedOpening(t *testing.T) {
	rows := put(t, "rows.csv", trees(1200)...)
	model := filepath.Join(t.TempDir(), "model")
	must(t, "train", rows, "--label", "last", "--out", model)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"rows to predict": {"predict", model, pipe}, "rows to evaluate": {"evaluate", model, pipe}, "model": {"predict", pipe, rows},
		"spec": {"train", rows, "--spec", pipe, "--out", model + "2"}, "model to resume": {"train", rows, "--resume", pipe, "--out", model + "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, took, stderr := interrupted(t, syscall.SIGTERM, args...)
			if status != harness.ExitInterrupted || took > prompt || !strings.Contains(stderr, "runall: interrupted") {
				t.Errorf("exit %d after %v: %s", status, took, stderr)
			}
		})
	}
}

// TestHangup: a terminal that is closed saves the model as SIGTERM does, but not
// under nohup.
func TestHangup(t *testing.T) {
	for _, ignored := range []bool{false, true} {
		if !ignored && signal.Ignored(syscall.SIGHUP) {
			continue // the tests run under nohup, and a process can't undo that for its children
		}
		file, model := put(t, "all.csv", trees(1500)...), filepath.Join(t.TempDir(), "model")
		args := []string{"runall", "train", file, "--label", "last", "--no-tune", "--epochs", "10000", "--save-every", "2000", "--out", model}
		if ignored {
			args = append([]string{"sh", "-c", `trap '' HUP; exec "$0" "$@"`}, args...)
		}
		cmd := exec.Command(args[0], args[1:]...)
		pipe, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		var said strings.Builder
		saves, sent := 0, 0
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			said.WriteString(lines.Text() + "\n")
			if !strings.Contains(lines.Text(), ", saved to ") {
				continue
			}
			if saves++; saves == 1 {
				cmd.Process.Signal(syscall.SIGHUP)
				cmd.Process.Signal(syscall.SIGHUP) // the shell's and the terminal's
			}
			if saves == 40 && ignored { // it goes on
				sent++
				cmd.Process.Signal(syscall.SIGTERM)
			}
		}
		cmd.Wait() // its error is the exit status
		if cmd.ProcessState.ExitCode() != harness.ExitInterrupted || !strings.Contains(said.String(), "To go on: ") || ignored != (sent == 1) {
			t.Errorf("ignored %v: exit %d after %d saves, %s", ignored, cmd.ProcessState.ExitCode(), saves, said.String()[max(0, said.Len()-300):])
		}
		if m, err := readModel(model, online.Read); err != nil || !m.Unfinished() {
			t.Errorf("ignored %v: the model can't go on: %v", ignored, err)
		}
	}
}
