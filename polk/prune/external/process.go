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
	"slices"
	"strings"
	"sync"
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
	out     io.Closer
	lines   chan []byte      // of its standard output; closed at the output's end
	rest    []byte           // text after the last line, once lines is closed
	unread  error            // why reading ended, once lines is closed; nil at the output's end
	asked   int              // number of questions so far
	line    []byte           // answer to the last one; nil if there is none yet
	seconds float64          // time spent on waiting for answers
	state   *os.ProcessState // how it ended; nil before
	stderr  tail
	kill    context.CancelCauseFunc
	killed  context.Context // its cause says why
}

// isPruner is set in the environment of each process, so that clients can reserve standard
// output for the protocol before anything else prints to it.
const isPruner = "POLK_PRUNER=1"

// oneThread keeps the linear algebra of a process to one thread: the workers share the cores. What
// the environment says comes later in the list, so that it counts.
var oneThread = []string{"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1"}

// start starts a command.
func start(words []string) (*process, error) {
	p := &process{lines: make(chan []byte, 1)}
	p.killed, p.kill = context.WithCancelCause(context.Background())
	p.cmd = exec.CommandContext(p.killed, words[0], words[1:]...)
	p.cmd.Env = slices.Concat(oneThread, os.Environ(), []string{isPruner})
	p.cmd.SysProcAttr = attributes()
	p.cmd.Cancel = func() error { return killGroup(p.cmd.Process) }
	p.cmd.WaitDelay = farewell // in case another process keeps standard error open
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = out
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err = p.cmd.Start(); err == nil {
		go p.read(out)
	}
	return p, err
}

// read sends the lines of the standard output to p.lines, also those that nobody has asked for.
func (p *process) read(out io.Reader) {
	defer close(p.lines)
	s := bufio.NewScanner(out)
	s.Buffer(nil, maxLine)
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) { // a line without an end is no answer
		if atEOF && bytes.IndexByte(data, '\n') < 0 {
			p.rest = bytes.Clone(data)
		}
		return bufio.ScanLines(data, false)
	})
	for s.Scan() {
		p.lines <- bytes.Clone(s.Bytes())
	}
	p.unread = s.Err()
}

// Reasons for killing a process.
var (
	errInvalid = errors.New("invalid answer")
	errClosed  = errors.New("its standard output is closed")
)

// errNotObject is the error of parse for a line of something else.
var errNotObject = errors.New("this line is not a JSON object (a print? write to standard error)")

// errTooLong is the error of a line that is not read to its end.
var errTooLong = fmt.Errorf("a line of more than %d bytes", maxLine)

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

// ask sends a message with its number and returns the answer. The answer must repeat the number and
// come after the message: otherwise a surplus answer would be taken for that to the next question,
// and so on.
func (p *process) ask(message map[string]any) (a *answer, err error) {
	p.asked++
	p.line, message["n"] = nil, p.asked
	text, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	began := time.Now() // encoding is time of this process
	defer func() { p.seconds += time.Since(began).Seconds() }()
	early := true
	select {
	case p.line = <-p.lines: // nil if its output is closed
	default:
		early = false
		if _, err := p.in.Write(append(text, '\n')); err != nil {
			return nil, errGone
		}
		p.line = <-p.lines
	}
	switch {
	case p.line != nil:
	case errors.Is(p.unread, bufio.ErrTooLong):
		return nil, errTooLong
	default:
		return nil, errGone
	}
	a, err = parse(p.line)
	switch {
	case err != nil:
	case a.N != p.asked:
		err = fmt.Errorf("an answer with n %d, want %d, that of the message", a.N, p.asked)
	case early:
		err = fmt.Errorf("an answer with n %d before the message with that number", a.N)
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
		err = fmt.Errorf("%w (%v)", err, p.state)
	case cause != errInvalid:
		err = cause
	case p.line != nil:
		err = blamed(p.line, err)
	}
	return p.explained(doing, err)
}

// close ends a process whose answers were all valid. It returns an error if the process has
// written another line, or ends by itself with another exit status than 0.
func (p *process) close() error {
	surplus := p.end()
	killed := context.Cause(p.killed) != nil
	switch {
	case surplus != nil:
		return p.explained("end", blamed(surplus, errors.New("this line answers no message")))
	case errors.Is(p.unread, bufio.ErrTooLong):
		return p.explained("end", errTooLong)
	case !killed && p.state != nil && !p.state.Success():
		return p.explained("end", fmt.Errorf("%w (%v)", errGone, p.state))
	}
	return nil
}

// blamed adds the line at fault to an error.
func blamed(line []byte, err error) error {
	return fmt.Errorf("%s: %w", words.Shorten(charset.Shown(string(line)), maxExcerpt), err)
}

// explained adds the end of standard error to an error. The process must have ended.
func (p *process) explained(doing string, err error) error {
	said := "its standard error is empty"
	if text := strings.TrimSpace(charset.Shown(string(p.stderr))); text != "" {
		said = "the end of its standard error:\n  " + strings.ReplaceAll(text, "\n", "\n  ")
	}
	return fmt.Errorf("%s: %w; %s", doing, err, said)
}

// end closes the process's standard input and waits until the process has ended. It kills the
// process after farewell, and in any case the processes that it leaves behind. It returns the first
// line of output that was not read before, or nil.
func (p *process) end() (surplus []byte) {
	p.in.Close()
	timer := time.AfterFunc(farewell, func() { p.kill(errClosed) })
	var rest sync.WaitGroup
	rest.Go(func() {
		for line := range p.lines {
			if surplus == nil {
				surplus = line
			}
		}
	})
	p.state, _ = p.cmd.Process.Wait()
	timer.Stop()
	killGroup(p.cmd.Process) // at once: later, its number may belong to another group
	// A process that has left the group may keep the output open.
	timer = time.AfterFunc(farewell, func() { p.out.Close() })
	rest.Wait()
	timer.Stop()
	p.cmd.Wait() // for the rest of standard error
	if surplus == nil && len(p.rest) > 0 {
		return p.rest
	}
	return surplus
}

// A tail keeps the end of the text that is written to it. It needs no lock: it is read after the
// process has ended, and Wait returns only after the last Write.
type tail []byte

func (t *tail) Write(b []byte) (int, error) {
	*t = append(*t, b...)
	*t = append((*t)[:0], (*t)[max(0, len(*t)-maxTail):]...)
	return len(b), nil
}
