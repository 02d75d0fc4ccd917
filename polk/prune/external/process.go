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
	"runtime"
	"strings"
	"time"
	"unicode"

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
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *os.File
	lines  *bufio.Reader
	asked  int    // number of questions so far
	line   []byte // answer to the last one; nil if there is none yet
	stderr tail
	kill   context.CancelCauseFunc
	killed context.Context // its cause says why
	ended  chan struct{}   // closed when the process has ended
}

// isPruner is set in the environment of each process, so that clients can reserve standard
// output for the protocol before anything else prints to it.
const isPruner = "POLK_PRUNER=1"

// start starts a command.
func start(words []string) (*process, error) {
	p := &process{ended: make(chan struct{})}
	p.killed, p.kill = context.WithCancelCause(context.Background())
	p.cmd = exec.CommandContext(p.killed, words[0], words[1:]...)
	p.cmd.Env = append(os.Environ(), isPruner)
	p.cmd.SysProcAttr = attributes()
	p.cmd.Cancel = func() error { return killGroup(p.cmd.Process) }
	p.cmd.WaitDelay = farewell // in case another process keeps standard error open
	p.cmd.Stderr = &p.stderr
	out, stdout, err := os.Pipe() // not StdoutPipe, which Wait closes before all is read
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	p.out, p.lines, p.cmd.Stdout = out, bufio.NewReaderSize(out, 1<<16), stdout
	started := make(chan error)
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		go p.run(started)
		err = <-started
	}
	if err != nil {
		out.Close()
	}
	return p, err
}

// run starts the process and waits for its end. It sends the error of the start to started.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread() // Linux kills the process when this thread ends: see attributes
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.cmd.Wait() // ProcessState has the outcome
		close(p.ended)
	}
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

// A reply is the part that all answers have in common.
type reply struct {
	N int `json:"n"` // number of the question
}

func (r *reply) number() int { return r.N }

type numbered interface{ number() int }

// ask sends a message, a JSON object, with its number and parses the answer. The answer must
// repeat the number: otherwise a surplus answer would be taken for that to the next question, and
// so on.
func (p *process) ask(message []byte, answer numbered) (err error) {
	p.asked++
	p.line = nil
	if _, err := p.in.Write(fmt.Appendf(message[:len(message)-1], ",\"n\":%d}\n", p.asked)); err != nil {
		return errGone
	}
	if p.line, err = p.receive(); err != nil {
		return err
	}
	if err := parse(p.line, answer); err != nil {
		return err
	}
	if n := answer.number(); n != p.asked {
		return fmt.Errorf("an answer with n %d, want %d, that of the message", n, p.asked)
	}
	return nil
}

// receive reads a line.
func (p *process) receive() ([]byte, error) {
	var line []byte
	for {
		part, err := p.lines.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine {
			return nil, fmt.Errorf("a line of more than %d bytes", maxLine)
		}
		if err == nil {
			return line[:len(line)-1], nil
		}
		if err != bufio.ErrBufferFull {
			return nil, errGone
		}
	}
}

// parse reads a line into v, strictly: an unknown field is an error.
func parse(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
			return errNotObject
		}
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one value on a line")
	}
	return nil
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
		err = fmt.Errorf("%s: %w", words.Shorten(clean(string(p.line)), maxExcerpt), err)
	}
	said := "its standard error is empty"
	if tail := p.stderr.String(); tail != "" {
		said = "the end of its standard error:\n" + tail
	}
	return fmt.Errorf("%s: %w; %s", doing, err, said)
}

// end closes the process's standard input and waits until the process has ended. It kills the
// process after farewell.
func (p *process) end() {
	p.in.Close()
	timer := time.AfterFunc(farewell, func() { p.kill(errClosed) })
	<-p.ended
	timer.Stop()
	p.out.Close()
}

// A tail keeps the end of the text that is written to it. It needs no lock: it is read after the
// process has ended, and Wait returns only after the last Write.
type tail []byte

func (t *tail) Write(b []byte) (int, error) {
	*t = append(*t, b...)
	*t = append((*t)[:0], (*t)[max(0, len(*t)-maxTail):]...)
	return len(b), nil
}

// String returns the lines, indented, without control characters.
func (t *tail) String() string {
	var lines []string
	for line := range strings.Lines(string(*t)) {
		if line = clean(line); line != "" {
			lines = append(lines, "  "+line)
		}
	}
	return strings.Join(lines, "\n")
}

// clean returns a line without control characters and trailing blanks.
func clean(line string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, strings.ToValidUTF8(line, "\uFFFD")), " ")
}
