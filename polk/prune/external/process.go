package external

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"polkrepro/internal/charset"
	"polkrepro/internal/words"
)

var ( // tests change them
	stepPatience = time.Minute
	farewell     = 2 * time.Second // for a process that is expected to end by itself
)

const (
	patience   = time.Minute // for a hello
	maxLine    = 1 << 24     // largest length of a line from the process, in bytes
	maxTail    = 1 << 12     // bytes of its standard error that are kept
	maxExcerpt = 120         // characters of an answer in a message
)

// A process is a running command. Each line of its standard output answers one question. The end
// of its standard error is kept.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	asked   int     // number of questions so far
	line    []byte  // answer to the last one; nil if there is none yet
	seconds float64 // time spent on waiting for answers
	stderr  tail
	kill    context.CancelCauseFunc
	killed  context.Context // its cause says why
}

// isPruner is set in the environment of each process, so that clients can reserve standard
// output for the protocol before anything else prints to it.
const isPruner = "POLK_PRUNER=1"

// start starts a command.
func start(words []string) (*process, error) {
	p := new(process)
	p.killed, p.kill = context.WithCancelCause(context.Background())
	p.cmd = exec.CommandContext(p.killed, words[0], words[1:]...)
	p.cmd.Env = append(os.Environ(), isPruner)
	p.cmd.SysProcAttr = attributes()
	p.cmd.Cancel = func() error { return killGroup(p.cmd.Process) }
	p.cmd.WaitDelay = farewell // in case another process keeps standard error open
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	p.out.Buffer(nil, maxLine)
	p.out.Split(func(data []byte, _ bool) (int, []byte, error) { return bufio.ScanLines(data, false) }) // a line without an end is no answer
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return p, p.cmd.Start()
}

// Reasons for killing a process.
var (
	errInvalid = errors.New("invalid answer")
	errClosed  = errors.New("its standard output is closed")
)

// errNotObject is the error of parse for a line of something else.
var errNotObject = errors.New("this line is not a JSON object (a print? write to standard error)")

// errGone is the error of ask when the process no longer reads or writes.
var errGone = errors.New("the process has ended")

// within kills the process when the context ends, or after patience, unless stop is
// called before.
func (p *process) within(ctx context.Context, patience time.Duration) (stop func()) {
	timer := time.AfterFunc(patience, func() { p.kill(fmt.Errorf("took more than %v", patience)) })
	forget := context.AfterFunc(ctx, func() { p.kill(ctx.Err()) })
	return func() {
		timer.Stop()
		forget()
	}
}

// ask sends a message with its number and returns the answer. The answer must repeat the number:
// otherwise a surplus answer would be taken for that to the next question, and so on.
func (p *process) ask(message map[string]any) (a *answer, err error) {
	p.asked++
	p.line, message["n"] = nil, p.asked
	text, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	began := time.Now() // encoding is time of this process
	defer func() { p.seconds += time.Since(began).Seconds() }()
	if _, err := p.in.Write(append(text, '\n')); err != nil {
		return nil, errGone
	}
	switch {
	case p.out.Scan():
		p.line = p.out.Bytes()
	case errors.Is(p.out.Err(), bufio.ErrTooLong):
		return nil, fmt.Errorf("a line of more than %d bytes", maxLine)
	default:
		return nil, errGone
	}
	if a, err = parse(p.line); err == nil && a.N != p.asked {
		err = fmt.Errorf("an answer with n %d, want %d, that of the message", a.N, p.asked)
	}
	return a, err
}

// parse reads a line strictly: an unknown field is an error.
func parse(line []byte) (*answer, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		return nil, errNotObject
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	a := new(answer)
	if err := d.Decode(a); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("more than one value on a line")
	}
	if a.Hello == nil && bytes.Contains(line, []byte("null")) { // which would be read as 0
		return nil, errors.New("null: leave out a field without a value, and write finite numbers")
	}
	return a, nil
}

// failed ends the process and returns an error with the cause: why the process was killed if it
// was, how it ended if it ended by itself, or else err, with the answer at fault. Unless a context
// ended, the error includes the end of standard error.
func (p *process) failed(doing string, err error) error {
	if err != errGone {
		p.kill(errInvalid)
	}
	p.end()
	switch cause := context.Cause(p.killed); {
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		return cause
	case cause == nil:
		err = fmt.Errorf("%w (%v)", err, p.cmd.ProcessState)
	case cause != errInvalid:
		err = cause
	case p.line != nil:
		err = fmt.Errorf("%s: %w", words.Shorten(charset.Shown(string(p.line)), maxExcerpt), err)
	}
	said := "its standard error is empty"
	if text := strings.TrimSpace(charset.Shown(string(p.stderr))); text != "" {
		said = "the end of its standard error:\n  " + strings.ReplaceAll(text, "\n", "\n  ")
	}
	return fmt.Errorf("%s: %w; %s", doing, err, said)
}

// end closes the process's standard input and waits until the process has ended. It kills the
// process after farewell.
func (p *process) end() {
	p.in.Close()
	timer := time.AfterFunc(farewell, func() { p.kill(errClosed) })
	p.cmd.Wait() // ProcessState has the outcome
	timer.Stop()
}

// A tail keeps the end of the text that is written to it. It needs no lock: it is read after the
// process has ended, and Wait returns only after the last Write.
type tail []byte

func (t *tail) Write(b []byte) (int, error) {
	*t = append(*t, b...)
	*t = append((*t)[:0], (*t)[max(0, len(*t)-maxTail):]...)
	return len(b), nil
}
