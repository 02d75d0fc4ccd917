//go:build check && linux

package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A trial disturbs a command once and sees whether its results suffer.
type trial struct {
	tb   testing.TB
	rng  *rand.Rand
	cmd  *command
	dir  string
	kit  *kit
	user launch // how the command is started

	closed   bool     // files may be read by their owner alone
	tampered bool     // results were changed behind the command's back
	through  bool     // the latest process got to its end
	refused  bool     // a process ended with a clear error
	unmount  []string // folders with file systems of their own
	repair   []func() // what undoes the fault, in order
	said     []string // the trial's story, for a failure
	wrong    []string // violations
}

// results returns the path of the results folder.
func (t *trial) results() string { return filepath.Join(t.dir, resultsDir) }

// when returns a moment of the command's undisturbed duration, and a little
// longer.
func (t *trial) when() time.Duration {
	return time.Duration(t.rng.Float64() * 1.1 * float64(t.cmd.duration))
}

// start starts the command as the trial has it.
func (t *trial) start() *process { return t.launch(t.user) }

func (t *trial) launch(l launch) *process {
	if l.args == nil {
		l.args = t.cmd.args
	}
	if l.binary == "" {
		l.binary = t.kit.binary
	}
	return start(t.tb, t.dir, l)
}

func (t *trial) say(format string, args ...any) {
	t.said = append(t.said, fmt.Sprintf(format, args...))
}

func (t *trial) violation(format string, args ...any) {
	t.wrong = append(t.wrong, fmt.Sprintf(format, args...))
	t.say("VIOLATION: "+format, args...)
}

// A refusal is an error that a fault may end in.
type refusal struct {
	exit int
	text *regexp.Regexp
}

// ended waits for a process that was disturbed and judges how it ended: at its
// end, by the signals that the trial sent, or with one of the errors.
func (t *trial) ended(p *process, sent []syscall.Signal, refusals ...refusal) {
	code := p.wait()
	t.say("%s: %v after %v\n%s", strings.Join(p.cmd.Args, " "), p.cmd.ProcessState, time.Since(p.begun).Round(time.Millisecond), tail(p.stderr.String()))
	t.through = code == 0
	signal, killed := p.killed()
	switch {
	case p.hung:
		t.violation("it hangs")
	case code == 0:
		t.user.args = nil // what is finished is not gone on with
	case killed && slices.Contains(sent, signal):
		t.goOn()
	case killed:
		t.violation("it was ended by %v", signal)
	case code == 130 && slices.ContainsFunc(sent, func(s syscall.Signal) bool { return s != syscall.SIGKILL }):
		t.interrupted(p)
	default:
		t.refused = true
		if problem := unclear(code, p.stderr.String(), refusals); problem != "" {
			t.violation("%s", problem)
		}
	}
	t.believes()
}

// interrupted judges what a process says that was told to stop.
func (t *trial) interrupted(p *process) {
	text := p.stderr.String()
	if want := "To resume: " + strings.Join(p.words, " ") + "\n"; !t.cmd.restarts && !strings.HasSuffix(text, want) {
		t.violation("it does not end with %q", want)
	}
	if !strings.Contains(text, "runall: interrupted") {
		t.violation("it does not say that it was interrupted")
	}
	t.goOn()
}

// goOn has the next process go on where this one stopped, if that is another
// command; or repeat the same, which has to come to the same end.
func (t *trial) goOn() {
	t.user.args = nil
	if t.cmd.resume != nil && t.rng.IntN(2) == 0 {
		t.user.args = t.cmd.resume(t.dir)
	}
}

// jargon is the words that no user should have to read.
var jargon = regexp.MustCompile(`(?m)^(panic|fatal error|runtime|goroutine \d+|SIG[A-Z]+)\b|a defect of this program`)

// unclear says what is wrong with the error that a process ended with, or
// nothing.
func unclear(code int, stderr string, refusals []refusal) string {
	if m := jargon.FindString(stderr); m != "" {
		return fmt.Sprintf("exit %d, and it says %q", code, m)
	}
	_, message, found := strings.Cut("\n"+stderr, "\nrunall: ")
	if !found || strings.Count(message, "\n") != 1 {
		return fmt.Sprintf("exit %d without one clear line", code)
	}
	for _, r := range refusals {
		if code == r.exit && r.text.MatchString(message) {
			return ""
		}
	}
	return fmt.Sprintf("exit %d and %q are none of the fault's", code, strings.TrimSpace(message))
}

// believes checks that every record that is taken for whole is right.
func (t *trial) believes() {
	s, err := read(t.dir)
	if err != nil {
		t.say("the results can't be looked at: %v", err)
		return
	}
	for _, b := range s.believed(t.cmd.want) {
		t.violation("%s", b)
	}
}

// Outcomes of a trial.
const (
	survived = iota // the results are right at once
	resumed         // they are after a repeat
	refused         // a clear error, and they are right after a repeat
	violated
	outcomes
)

// conclude repairs what the fault broke, repeats the command if need be, and
// compares what is left with an undisturbed process's.
func (t *trial) conclude() int {
	for _, undo := range t.repair {
		undo()
	}
	t.checkClosed()
	outcome := survived
	wrong := t.lacks()
	if t.through && len(wrong) > 0 && !t.tampered {
		t.violation("exit 0, and %s", strings.Join(wrong, ", "))
	}
	if !t.through || len(wrong) > 0 {
		t.repeat()
		outcome = resumed
		if t.refused {
			outcome = refused
		}
	}
	if len(t.wrong) > 0 {
		return violated
	}
	return outcome
}

// checkClosed reports files of the results that others than the owner can read,
// where the umask closes them.
func (t *trial) checkClosed() {
	for _, path := range t.files() {
		if info, err := os.Stat(path); t.closed && err == nil && info.Mode().Perm()&0o077 != 0 {
			t.violation("%s has the permissions %o", path, info.Mode().Perm())
		}
	}
}

// repeat carries out the command, undisturbed.
func (t *trial) repeat() {
	p := t.launch(launch{args: t.user.args, unrooted: t.user.unrooted})
	if code := p.wait(); code != 0 {
		t.violation("the repeat, %s: %v\n%s", strings.Join(p.cmd.Args, " "), p.cmd.ProcessState, tail(p.stderr.String()))
	}
	if wrong := t.lacks(); len(wrong) > 0 {
		t.violation("after the repeat %s\n%s", strings.Join(wrong, ", "), tail(p.stderr.String()))
	}
}

// lacks says in what the results are not those of an undisturbed process.
func (t *trial) lacks() []string {
	s, err := read(t.dir)
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

// own gives the trial's folder to the user without rights.
func (t *trial) own() {
	t.user.unrooted = true
	if os.Getuid() != 0 {
		return
	}
	err := filepath.Walk(t.dir, func(path string, _ os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, nobody, nobody)
	})
	if err != nil {
		t.tb.Fatal(err)
	}
}
