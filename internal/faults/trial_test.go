//go:build check && linux

package faults

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"polkrepro/record"
)

// A process is a running runall.
type process struct {
	*exec.Cmd
	stderr bytes.Buffer
	begun  time.Time
	done   chan struct{}
}

// start starts runall in a folder. The process is killed when the thread that starts it
// ends. After three minutes the process counts as hanging and must print its stacks.
func (k *kit) start(dir string, args []string) *process {
	p := &process{Cmd: exec.Command(k.binary, args...), begun: time.Now(), done: make(chan struct{})}
	p.Dir, p.Stderr = dir, &p.stderr
	p.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "POLK_OFFLINE=1"}
	p.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.Start(); err != nil {
		panic(err)
	}
	watchdog := time.AfterFunc(3*time.Minute, func() { p.Process.Signal(syscall.SIGQUIT) })
	go func() {
		p.Wait() // the error is in p.ProcessState
		watchdog.Stop()
		close(p.done)
	}()
	return p
}

// within reports whether the process ends before it reaches an age.
func (p *process) within(age time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(time.Until(p.begun.Add(age))):
		return false
	}
}

// wait waits for the end and returns the exit status, or −1 if a signal ended the process.
func (p *process) wait() int {
	<-p.done
	return p.ProcessState.ExitCode()
}

// A trial disturbs a command once and checks whether the results suffer.
type trial struct {
	*kit
	rng *rand.Rand
	cmd *command
	dir string

	resume   bool     // the next process resumes training from the model
	tampered bool     // the trial itself changed the results
	through  bool     // the latest process finished
	refused  bool     // a process ended with a clear error
	repair   func()   // undoes the fault
	said     []string // the trial's log, printed on a failure
	wrong    []string // violations
}

// results returns the path of the results folder.
func (t *trial) results() string { return filepath.Join(t.dir, "results") }

// when returns a random moment, up to 1.1 times the command's undisturbed duration.
func (t *trial) when() time.Duration {
	return time.Duration(t.rng.Float64() * 1.1 * float64(t.cmd.duration))
}

// start starts the command, or resumes training from the saved model.
func (t *trial) start() *process {
	if t.resume {
		return t.kit.start(t.dir, []string{"train", "rows.csv", "--resume", "results/model"})
	}
	return t.kit.start(t.dir, t.cmd.args)
}

func (t *trial) say(format string, args ...any) {
	t.said = append(t.said, fmt.Sprintf(format, args...))
}

func (t *trial) violation(format string, args ...any) {
	t.wrong = append(t.wrong, fmt.Sprintf(format, args...))
	t.say("VIOLATION: "+format, args...)
}

// A refusal is an error that a fault may cause: the exit status and a pattern of the text.
type refusal struct {
	exit int
	text string
}

// ended waits for a disturbed process and checks that it finished, was ended by the signal
// that the trial sent, or ended with one of the refusals.
func (t *trial) ended(p *process, sent syscall.Signal, refusals ...refusal) {
	code, text, status := p.wait(), p.stderr.String(), p.ProcessState.Sys().(syscall.WaitStatus)
	t.say("%s: %v after %v\n%s", strings.Join(p.Args, " "), p.ProcessState, time.Since(p.begun).Round(time.Millisecond), tail(text))
	t.through = code == 0
	switch {
	case code == 0:
		t.resume = false // a finished training is not resumed
	case status.Signaled() && status.Signal() != sent:
		t.violation("it was ended by %v", status.Signal())
	case status.Signaled(), code == 130 && sent != 0 && sent != syscall.SIGKILL:
		want := "To resume: " + strings.Join(p.Args, " ") + "\n"
		if code == 130 && (!strings.Contains(text, "runall: interrupted") || t.cmd.name == "reproduce" && !strings.HasSuffix(text, want)) {
			t.violation("it does not say that it was interrupted and %q", want)
		}
		_, err := os.Stat(filepath.Join(t.results(), "model"))
		t.resume = err == nil && t.rng.IntN(2) == 0 // else the whole training is repeated and must give the same results
	default:
		t.refused = true
		if problem := unclear(code, text, refusals); problem != "" {
			t.violation("%s", problem)
		}
	}
	t.believes()
}

// jargon matches words that no user should have to read.
var jargon = regexp.MustCompile(`(?m)^(panic|fatal error|runtime|goroutine \d+|SIG[A-Z]+)\b|a defect of this program`)

// unclear returns the problem of the error that a process ended with, or "".
func unclear(code int, stderr string, refusals []refusal) string {
	if m := jargon.FindString(stderr); m != "" {
		return fmt.Sprintf("exit %d, and it says %q", code, m)
	}
	_, message, found := strings.Cut("\n"+stderr, "\nrunall: ")
	if !found || strings.Count(message, "\n") != 1 {
		return fmt.Sprintf("exit %d without one clear line", code)
	}
	for _, r := range refusals {
		if code == r.exit && regexp.MustCompile(r.text).MatchString(message) {
			return ""
		}
	}
	return fmt.Sprintf("exit %d and %q are none of the fault's", code, strings.TrimSpace(message))
}

// believes checks that every record that reads as intact has the right contents.
func (t *trial) believes() {
	s, _, err := read(t.dir)
	if err != nil {
		t.say("the results can't be looked at: %v", err)
	}
	for name, got := range s {
		finished := strings.HasSuffix(name, ".jsonl") && !strings.HasSuffix(name, ".failed.jsonl")
		if finished && !strings.HasPrefix(got, damaged) && got != t.cmd.want[name] {
			t.violation("%s is a whole record with other contents", name)
		}
	}
}

// Outcomes of a trial.
const (
	survived = iota // the results are right at once
	resumed         // the results are right after a rerun
	refused         // a clear error, and the results are right after a rerun
	violated
	outcomes
)

// conclude undoes the fault, reruns the command if necessary, and compares the results with
// those of an undisturbed process.
func (t *trial) conclude() int {
	if t.repair != nil {
		t.repair()
	}
	outcome := survived
	wrong := t.lacks()
	if t.through && len(wrong) > 0 && !t.tampered {
		t.violation("exit 0, and %s", strings.Join(wrong, ", "))
	}
	if !t.through || len(wrong) > 0 {
		if outcome = resumed; t.refused {
			outcome = refused
		}
		p := t.start()
		code, wrong := p.wait(), t.lacks()
		if code != 0 || len(wrong) > 0 {
			t.violation("the repeat, %s: %v, and then %s\n%s", strings.Join(p.Args, " "), p.ProcessState, strings.Join(wrong, ", "), tail(p.stderr.String()))
		}
	}
	if len(t.wrong) > 0 {
		return violated
	}
	return outcome
}

// lacks lists the differences between the results and those of an undisturbed process.
func (t *trial) lacks() []string {
	s, _, err := read(t.dir)
	if err != nil {
		return []string{err.Error()}
	}
	return s.differences(t.cmd.want)
}

// tail returns the last lines of a text.
func tail(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-8):], "\n  ")
}

// A state holds sums of the files in a results folder, by path: of the deterministic part of
// a record, and of all of any other file.
type state map[string]string

const (
	damaged = "damaged: " // begins the entry of a record that can't be read
	varies  = "any"       // stands for contents that differ between undisturbed processes
)

// read returns the state and the size of the results in a trial's folder, without the temporary
// files that killed processes leave.
func read(dir string) (s state, size int64, err error) {
	s = make(state)
	results := os.DirFS(filepath.Join(dir, "results"))
	err = fs.WalkDir(results, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil && name == "." { // there are no results
			return nil
		}
		if temporary, _ := filepath.Match(".runall-*.tmp", e.Name()); err != nil || e.IsDir() || temporary {
			return err
		}
		b, err := fs.ReadFile(results, name)
		size += int64(len(b))
		s[name] = fmt.Sprintf("%x", sha256.Sum256(b))
		switch base := filepath.Base(name); {
		case base == ".lock", slices.Contains([]string{"tradeoff", "methods", "results"}, strings.TrimSuffix(base, filepath.Ext(base))):
			s[name] = varies // a process ID; times, which are equal in two undisturbed processes only by chance
		case filepath.Dir(name) == "records" && strings.HasSuffix(name, ".jsonl"):
			if r, err := record.Read(filepath.Join(dir, "results", name)); err != nil {
				s[name] = damaged + err.Error()
			} else {
				s[name] = fmt.Sprintf("%x", sha256.Sum256(record.Canonical(r)))
			}
		}
		return err
	})
	return s, size, err
}

// differences lists the differences between the state and the wanted state.
func (s state) differences(want state) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch got, ok := s[name]; {
		case !ok:
			out = append(out, name+" is missing")
		case got != want[name] && want[name] != varies:
			out = append(out, name+" is different: "+got)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if _, ok := want[name]; !ok {
			out = append(out, name+" is left over")
		}
	}
	return out
}
