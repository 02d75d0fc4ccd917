//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"polkrepro/harness"
	"polkrepro/internal/files"
	"polkrepro/online"
)

// Ctrl-C while a stream is silent saves the model of the rows so far, and the
// rest of the stream makes of it what the whole stream makes.
func TestInterruptedStream(t *testing.T) {
	rows := trees(2500)
	dir := t.TempDir()
	half, whole := filepath.Join(dir, "half"), filepath.Join(dir, "whole")
	cmd := exec.Command("runall", "train", "-", "--format", "csv", "--label", "last", "--no-tune", "--out", half)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	if _, err := io.WriteString(stdin, strings.Join(rows[:1000], "")); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "1000 rows") {
			cmd.Process.Signal(syscall.SIGINT)
		}
	}
	if cmd.Wait(); cmd.ProcessState.ExitCode() != harness.ExitInterrupted {
		t.Fatalf("exit status %d", cmd.ProcessState.ExitCode())
	}
	must(t, "train", put(t, "rest.csv", rows[1000:]...), "--resume", half)
	must(t, "train", put(t, "all.csv", rows...), "--label", "last", "--no-tune", "--out", whole)
	a, errA := os.ReadFile(half)
	b, errB := os.ReadFile(whole)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("the model of the interrupted stream is another one (%v, %v)", errA, errB)
	}
}

// kill -9 at any point leaves the model that was saved last whole, and training
// goes on from it, as often as it is killed, to what it had become without.
func TestKilledTraining(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 0))
	dir := t.TempDir()
	file := put(t, "all.csv", trees(2000)...)
	whole, model := filepath.Join(dir, "whole"), filepath.Join(dir, "model")
	args := []string{"train", file, "--label", "last", "--loss", "logistic", "--epochs", "4", "--save-every", "300", "--no-tune"}
	must(t, append(args, "--out", whole)...)
	args = append(args, "--out", model)
	killed := 0
	for status := -1; status != 0; {
		if status = killAfter(t, rng.IntN(9), args...); status < 0 {
			killed++
		}
		if _, err := os.Stat(model); err == nil {
			args = []string{"train", file, "--resume", model, "--save-every", "300"}
		}
	}
	a, errA := os.ReadFile(model)
	b, errB := os.ReadFile(whole)
	if killed < 2 || errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("killed %d times, the model is another one (%v, %v)", killed, errA, errB)
	}
}

// killAfter runs a command line in a process of its own that is killed when it
// has saved a model n times, and returns its exit status, −1 if it was killed.
func killAfter(t *testing.T, n int, args ...string) int {
	t.Helper()
	cmd := exec.Command("runall", args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if !strings.Contains(lines.Text(), ", saved to ") {
			continue
		}
		if n--; n < 0 {
			cmd.Process.Kill()
		}
	}
	cmd.Wait() // its error is the exit status
	status := cmd.ProcessState.ExitCode()
	if status > 0 {
		t.Fatalf("exit status %d: %s", status, said.String())
	}
	return status
}

// SIGTERM, a scheduler's way to ask for the node back, saves the model too, and
// says which command goes on from it.
func TestTerminatedTraining(t *testing.T) {
	file, model := put(t, "all.csv", trees(1500)...), filepath.Join(t.TempDir(), "model")
	p := start(t, "train", file, "--label", "last", "--epochs", "10000", "--save-every", "2000", "--out", model)
	for _, err := os.Stat(model); err != nil; _, err = os.Stat(model) {
		time.Sleep(time.Millisecond)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	status := p.wait(t)
	said := fmt.Sprintf("To go on: runall train %s --resume %s\n", file, model)
	if status != harness.ExitInterrupted || !strings.Contains(p.stderr.String(), said) {
		t.Fatalf("exit status %d, no %q in %s", status, said, p.stderr.String())
	}
	if m, err := readModel(model, online.Read); err != nil || !m.Unfinished() || m.Rows() < 2000 {
		t.Errorf("the model can't go on: %v", err)
	}
}

// A model that another process trains is not trained further under its name.
func TestResumeInUse(t *testing.T) {
	file, model := put(t, "t.csv", trees(300)...), filepath.Join(t.TempDir(), "m.polk")
	must(t, "train", file, "--label", "last", "--no-tune", "--out", model)
	before, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	claim, _ := files.NewClaim(model)
	code, _, stderr := call(t, "train", file, "--resume", model)
	if after, err := os.ReadFile(model); err != nil || !bytes.Equal(before, after) || code != harness.ExitUsage || !strings.Contains(stderr, "m.polk is in use by another") {
		t.Errorf("exit status %d, %v: %s", code, err, stderr)
	}
	must(t, "train", file, "--resume", model, "--out", model+"2")
	must(t, "evaluate", model, file)
	claim.Close()
	must(t, "train", file, "--resume", model)
}
