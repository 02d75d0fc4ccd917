//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"polkrepro/harness"
)

// Ctrl-C while a stream is silent saves the model of the rows so far, and the
// rest of the stream makes of it what the whole stream makes.
func TestInterruptedStream(t *testing.T) {
	rows := trees(2500)
	dir := t.TempDir()
	half, whole := filepath.Join(dir, "half"), filepath.Join(dir, "whole")
	cmd := exec.Command(os.Args[0], "train", "-", "--format", "csv", "--label", "last", "--out", half)
	cmd.Env = append(os.Environ(), asRunall+"=1")
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
	must(t, "train", put(t, "all.csv", rows...), "--label", "last", "--out", whole)
	a, errA := os.ReadFile(half)
	b, errB := os.ReadFile(whole)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("the model of the interrupted stream is another one (%v, %v)", errA, errB)
	}
}
