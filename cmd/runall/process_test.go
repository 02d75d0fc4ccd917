//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"polkrepro/harness"
	"polkrepro/record"
)

// A process is a runall of its own.
type process struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command("runall", args...)}
	p.cmd.Stderr = &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill() })
	return p
}

// wait returns the exit status, −1 for a process that was killed.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

func records(t *testing.T, results string) *record.Collection {
	t.Helper()
	c, err := record.ReadDir(harness.RecordsDir(results))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Errors...); err != nil {
		t.Fatal(err)
	}
	return c
}

// reported returns the events of a kind in the output of --progress json. Other
// lines are the program's messages.
func reported(t *testing.T, stderr, kind string) (events []harness.Event) {
	t.Helper()
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		var e harness.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if e.Kind == kind {
			events = append(events, e)
		}
	}
	return events
}

// awaitMidRun waits until one run is finished and another is under way.
func awaitMidRun(t *testing.T, results string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		entries, _ := os.ReadDir(harness.RecordsDir(results)) // there is none yet at first
		var finished, partial bool
		for _, e := range entries {
			finished = finished || strings.HasSuffix(e.Name(), ".jsonl")
			partial = partial || strings.HasSuffix(e.Name(), ".partial")
		}
		if finished && partial {
			return
		}
	}
	t.Fatal("no run was finished while another was under way")
}

// sealed returns the files of the finished runs.
func sealed(t *testing.T, results string) map[string]os.FileInfo {
	t.Helper()
	infos := make(map[string]os.FileInfo)
	for id, r := range records(t, results).Records {
		info, err := os.Stat(r.Path)
		if err != nil {
			t.Fatal(err)
		}
		infos[id] = info
	}
	return infos
}

// TestKilledAndInterrupted ends a reproduction in the middle of a run, by
// SIGKILL and by Ctrl-C, and lets a second one finish: what was finished is
// not touched, nothing partial is left, and the records are those of a
// reproduction that nobody disturbed.
func TestKilledAndInterrupted(t *testing.T) {
	spec := shortSpec
	undisturbed := t.TempDir()
	if p := start(t, "reproduce", spec, "--results", undisturbed, "--progress", "quiet"); p.wait(t) != 0 {
		t.Fatalf("undisturbed: %s", p.stderr.String())
	}
	want := records(t, undisturbed).Records
	for _, tt := range []struct {
		name   string
		signal syscall.Signal
		exit   int
	}{
		{"SIGKILL", syscall.SIGKILL, -1},
		{"SIGINT", syscall.SIGINT, harness.ExitInterrupted},
		{"SIGTERM", syscall.SIGTERM, harness.ExitInterrupted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			results := t.TempDir()
			args := []string{"reproduce", spec, "--results", results, "--workers", "1", "--progress", "json"}
			p := start(t, args...)
			awaitMidRun(t, results)
			if err := p.cmd.Process.Signal(tt.signal); err != nil {
				t.Fatal(err)
			}
			if code := p.wait(t); code != tt.exit {
				t.Fatalf("exit %d, want %d\n%s", code, tt.exit, p.stderr.String())
			}
			before := sealed(t, results)
			left := records(t, results).Partial
			// The signal may have come between two runs: then none is partial.
			if len(before) == 0 || len(before) == len(want) || len(left) > 1 {
				t.Fatalf("%d of %d runs finished, %d partial", len(before), len(want), len(left))
			}
			resume := fmt.Sprintf("To resume: runall %s\n", strings.Join(args, " "))
			if said := strings.Contains(p.stderr.String(), resume); said != (tt.exit == harness.ExitInterrupted) {
				t.Errorf("no %q in\n%s", resume, p.stderr.String())
			}

			p = start(t, args...)
			if code := p.wait(t); code != 0 {
				t.Fatalf("second attempt: exit %d\n%s", code, p.stderr.String())
			}
			if started := len(reported(t, p.stderr.String(), harness.EventStart)); started != len(want)-len(before) {
				t.Errorf("%d runs started, want %d", started, len(want)-len(before))
			}
			if len(left) == 1 && !strings.Contains(p.stderr.String(), "run again from its start") {
				t.Errorf("not a word on the partial run in\n%s", p.stderr.String())
			}
			after := sealed(t, results)
			for id, info := range before {
				if !os.SameFile(info, after[id]) || !info.ModTime().Equal(after[id].ModTime()) {
					t.Errorf("the finished record %s was touched", id)
				}
			}
			c := records(t, results)
			if len(c.Partial) != 0 || len(c.Records) != len(want) {
				t.Errorf("%d partial and %d finished records, want 0 and %d", len(c.Partial), len(c.Records), len(want))
			}
			for id, r := range want {
				if !bytes.Equal(record.Canonical(r), record.Canonical(c.Records[id])) {
					t.Errorf("record %s is not that of the undisturbed reproduction", id)
				}
			}
		})
	}
}

func TestSecondProcessIsTurnedAway(t *testing.T) {
	t.Parallel()
	results := t.TempDir()
	spec := shortSpec
	first := start(t, "reproduce", spec, "--results", results, "--workers", "1", "--progress", "quiet")
	awaitMidRun(t, results)
	second := start(t, "reproduce", spec, "--results", results, "--progress", "quiet")
	if code := second.wait(t); code != harness.ExitUsage {
		t.Errorf("exit %d", code)
	}
	want := fmt.Sprintf("is in use by another runall (process %d)", first.cmd.Process.Pid)
	if !strings.Contains(second.stderr.String(), want) {
		t.Errorf("no %q in %q", want, second.stderr.String())
	}
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.wait(t)
	// The lock goes away with the process that held it.
	r, err := harness.OpenResults(results)
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
}
