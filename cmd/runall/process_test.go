//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"polkrepro/harness"
	"polkrepro/internal/testutil"
	"polkrepro/online"
	"polkrepro/record"
)

// A process runs runall, or the command with which a test replaces it before the start.
type process struct {
	*exec.Cmd
	see            func(line string) // unless nil, called with each line of standard error as it arrives
	stdout, stderr bytes.Buffer
	lines          int // number of lines of stderr that see has had
}

// newProcess returns a process of a command line, not yet started.
func newProcess(args ...string) *process {
	p := &process{Cmd: exec.Command("runall", args...)}
	p.Stdout, p.Stderr = &p.stdout, p
	return p
}

// start starts a command line.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := newProcess(args...)
	p.start(t)
	return p
}

func (p *process) start(t *testing.T) {
	t.Helper()
	testutil.NoError(t, p.Start())
	t.Cleanup(func() { p.Process.Kill() })
}

// Write receives standard error.
func (p *process) Write(b []byte) (int, error) {
	p.stderr.Write(b)
	all := strings.SplitAfter(p.stderr.String(), "\n")
	for ; p.see != nil && p.lines < len(all)-1; p.lines++ {
		p.see(strings.TrimSuffix(all[p.lines], "\n"))
	}
	return len(b), nil
}

// wait returns the exit status, −1 for a process that was killed.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	var exit *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.ProcessState.ExitCode()
}

// stopped starts a process and sends it SIGTERM after some time. It returns the exit status and
// the time from the signal to the end, 0 if the process ended before.
func (p *process) stopped(t *testing.T, after time.Duration) (status int, took time.Duration) {
	t.Helper()
	p.start(t)
	told := make(chan time.Time, 1)
	stop := time.AfterFunc(after, func() {
		told <- time.Now()
		p.Process.Signal(syscall.SIGTERM)
	})
	kill := time.AfterFunc(after+time.Minute, func() { p.Process.Kill() })
	status = p.wait(t)
	kill.Stop()
	if stop.Stop() {
		return status, 0
	}
	return status, time.Since(<-told)
}

func records(t *testing.T, results string) *record.Collection {
	t.Helper()
	c, err := record.ReadDir(harness.RecordsDir(results))
	testutil.NoError(t, err)
	testutil.NoError(t, errors.Join(c.Errors...))
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
		entries, _ := os.ReadDir(harness.RecordsDir(results)) // the folder is missing at first
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

// sameRecords fails unless two folders have the same records, bit for bit except for times.
func sameRecords(t *testing.T, got, want map[string]*record.Record) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d finished records, want %d", len(got), len(want))
	}
	for id, r := range want {
		if o := got[id]; o == nil || !bytes.Equal(record.Canonical(r), record.Canonical(o)) {
			t.Errorf("%s %s %s %s: the records differ", r.Header.Run.Data, r.Header.Run.Task, r.Header.Run.Method, r.Header.Run.Params.Pruner)
		}
	}
}

// sealed returns the files of the finished runs.
func sealed(t *testing.T, results string) map[string]os.FileInfo {
	t.Helper()
	infos := make(map[string]os.FileInfo)
	for id, r := range records(t, results).Records {
		info, err := os.Stat(r.Path)
		testutil.NoError(t, err)
		infos[id] = info
	}
	return infos
}

// TestKilledAndInterrupted ends a reproduction in the middle of a run, by SIGKILL, SIGINT or
// SIGTERM, and lets a second one finish. The second leaves finished records untouched and no
// partial ones. The records equal the records of an undisturbed reproduction.
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
			testutil.NoError(t, p.Process.Signal(tt.signal))
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
			if len(c.Partial) != 0 {
				t.Errorf("%d partial records", len(c.Partial))
			}
			sameRecords(t, c.Records, want)
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
	want := fmt.Sprintf("is in use by another runall (process %d)", first.Process.Pid)
	if !strings.Contains(second.stderr.String(), want) {
		t.Errorf("no %q in %q", want, second.stderr.String())
	}
	testutil.NoError(t, first.Process.Kill())
	first.wait(t)
	// The lock goes away with the process that held it.
	r, err := harness.OpenResults(results)
	testutil.NoError(t, err)
	r.Close()
}

// prompt is the time within which an interrupted process must end, on a machine that may be busy.
const prompt = 4 * time.Second

// TestInterruptedOpening: SIGTERM ends a process that is opening a pipe without a writer.
func TestInterruptedOpening(t *testing.T) {
	rows := put(t, "rows.csv", trees(1200)...)
	model := filepath.Join(t.TempDir(), "model")
	must(t, "train", rows, "--label", "last", "--out", model)
	pipe := filepath.Join(t.TempDir(), "pipe")
	testutil.NoError(t, syscall.Mkfifo(pipe, 0o666))
	for name, args := range map[string][]string{
		"rows to predict": {"predict", model, pipe}, "rows to evaluate": {"evaluate", model, pipe}, "model": {"predict", pipe, rows},
		"model to resume": {"train", rows, "--resume", pipe, "--out", model + "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for wait := 200 * time.Millisecond; ; wait *= 2 { // until the process lives long enough to catch signals
				p := newProcess(args...)
				status, took := p.stopped(t, wait)
				if status < 0 && took <= prompt && wait <= 5*time.Second {
					continue
				}
				if status != harness.ExitInterrupted || took > prompt || !strings.Contains(p.stderr.String(), "runall: interrupted") {
					t.Errorf("exit %d after %v: %s", status, took, p.stderr.String())
				}
				return
			}
		})
	}
}

// TestStoppedTraining: on SIGTERM, with which a scheduler reclaims the node, train saves the model
// and prints the command that resumes it. It does the same when its terminal is closed, but not
// under nohup.
func TestStoppedTraining(t *testing.T) {
	for _, tt := range []struct {
		name    string
		signals []syscall.Signal // sent after the first save
		shell   string           // a script that execs runall
	}{
		{"SIGTERM", []syscall.Signal{syscall.SIGTERM}, ""},
		{"SIGHUP", []syscall.Signal{syscall.SIGHUP, syscall.SIGHUP}, ""}, // one from the shell, one from the terminal
		{"nohup", []syscall.Signal{syscall.SIGHUP, syscall.SIGHUP}, `trap '' HUP; exec "$0" "$@"`},
	} {
		if tt.name == "SIGHUP" && signal.Ignored(syscall.SIGHUP) {
			continue // the tests run under nohup, and a process can't undo that for its children
		}
		file, model := put(t, "all.csv", trees(1500)...), filepath.Join(t.TempDir(), "model")
		p := newProcess("train", file, "--label", "last", "--epochs", "10000", "--save-every", "2000", "--out", model)
		if tt.shell != "" {
			p.Cmd = exec.Command("sh", append([]string{"-c", tt.shell}, p.Args...)...)
			p.Stderr = p
		}
		saves, goesOn := 0, 0
		p.see = func(line string) {
			if !strings.Contains(line, ", saved to ") {
				return
			}
			saves++
			for _, s := range tt.signals {
				if saves == 1 {
					p.Process.Signal(s)
				}
			}
			if saves == 40 && tt.shell != "" { // SIGHUP has not stopped it
				goesOn++
				p.Process.Signal(syscall.SIGTERM)
			}
		}
		p.start(t)
		said := fmt.Sprintf("To go on: runall train %s --resume %s\n", file, model)
		if status := p.wait(t); status != harness.ExitInterrupted || !strings.Contains(p.stderr.String(), said) || (tt.shell != "") != (goesOn == 1) {
			t.Errorf("%s: exit %d after %d saves, no %q in …%s", tt.name, status, saves, said, p.stderr.String()[max(0, p.stderr.Len()-300):])
		}
		if m, err := readModel(model, online.Read); err != nil || !m.Unfinished() || m.Rows() < 2000 {
			t.Errorf("%s: the model can't go on: %v", tt.name, err)
		}
	}
}

// Ctrl-C while a stream is silent saves the model of the rows so far. Resumed on the rest of the
// stream, the model equals one trained on the whole stream.
func TestInterruptedStream(t *testing.T) {
	rows := trees(2500)
	dir := t.TempDir()
	half, whole := filepath.Join(dir, "half"), filepath.Join(dir, "whole")
	p := newProcess("train", "-", "--format", "csv", "--label", "last", "--no-tune", "--out", half)
	stdin, err := p.StdinPipe()
	testutil.NoError(t, err)
	p.see = func(line string) {
		if strings.HasPrefix(line, "1000 rows") {
			p.Process.Signal(syscall.SIGINT)
		}
	}
	p.start(t)
	if _, err := io.WriteString(stdin, strings.Join(rows[:1000], "")); err != nil {
		t.Fatal(err)
	}
	if status := p.wait(t); status != harness.ExitInterrupted {
		t.Fatalf("exit status %d", status)
	}
	must(t, "train", put(t, "rest.csv", rows[1000:]...), "--resume", half)
	must(t, "train", put(t, "all.csv", rows...), "--label", "last", "--no-tune", "--out", whole)
	sameFiles(t, half, whole)
}

// kill -9 at any point leaves the last saved model intact. Training resumes from it, however often
// it is killed, and ends with the model of undisturbed training.
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
		p, saves := newProcess(args...), rng.IntN(9)
		p.see = func(line string) {
			if strings.Contains(line, ", saved to ") {
				if saves--; saves < 0 {
					p.Process.Kill()
				}
			}
		}
		p.start(t)
		if status = p.wait(t); status > 0 {
			t.Fatalf("exit status %d: %s", status, p.stderr.String())
		} else if status < 0 {
			killed++
		}
		if _, err := os.Stat(model); err == nil {
			args = []string{"train", file, "--resume", model, "--save-every", "300"}
		}
	}
	if killed < 2 {
		t.Errorf("killed %d times", killed)
	}
	sameFiles(t, model, whole)
}

// sameFiles fails unless two files are the same.
func sameFiles(t *testing.T, a, b string) {
	t.Helper()
	if contents(t, a) != contents(t, b) {
		t.Errorf("%s and %s differ", a, b)
	}
}
