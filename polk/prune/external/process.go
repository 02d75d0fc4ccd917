package external

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
)

var ( // tests change them
	stepPatience = time.Minute
	farewell     = 2 * time.Second // for a process that is expected to end by itself
)

const (
	patience   = time.Minute // for a hello, and for saving a state
	maxLine    = 1 << 24     // largest length of a line from the process, in bytes
	maxTail    = 1 << 12     // bytes of its standard error that are kept
	tailLines  = 20          // lines of standard error in a message
	maxExcerpt = 120         // bytes of an answer in a message
)

// A process is a running command. Its standard output is read line by line; each line answers
// one question. The end of its standard error is kept.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *os.File
	lines   *bufio.Reader
	asked   atomic.Bool // a question has not been answered yet
	answers chan []byte
	unread  error // why answers was closed
	stderr  tail
	kill    context.CancelCauseFunc
	killed  context.Context // its cause says why
	ended   chan struct{}   // closed when the process has ended
}

// isPruner is set in the environment of each process, so that clients can reserve standard
// output for the protocol before anything else prints to it.
const isPruner = "POLK_PRUNER=1"

// start starts a command.
func start(words []string) (*process, error) {
	p := &process{ended: make(chan struct{}), answers: make(chan []byte, 1)}
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
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		out.Close()
		return nil, err
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // Linux kills the process when this thread ends: see attributes
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.cmd.Wait() // ProcessState has the outcome
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		out.Close()
		return nil, err
	}
	go p.listen()
	return p, nil
}

// Reasons for killing a process.
var (
	errInvalid = errors.New("invalid answer")
	errClosed  = errors.New("its standard output is closed")
)

// errGone is the error of send and receive when the process no longer reads or writes.
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

// listen passes on the answers until there is nothing more to read. It kills a process that
// writes a line without a question: the line would be taken for the answer to the next question,
// and so on.
func (p *process) listen() {
	defer close(p.answers)
	for {
		var line []byte
		if line, p.unread = p.receive(); p.unread != nil {
			return
		}
		if p.asked.CompareAndSwap(true, false) {
			n := p.lines.Buffered()
			if n == 0 {
				p.answers <- line
				continue
			}
			line, _ = p.lines.Peek(n)
		}
		p.unread = fmt.Errorf("unexpected line %q: want one line for each request", excerpt(line))
		p.kill(p.unread)
		return
	}
}

// ask sends a message and returns the answer.
func (p *process) ask(message []byte) ([]byte, error) {
	p.asked.Store(true)
	if err := p.send(message); err != nil {
		return nil, err
	}
	line, ok := <-p.answers
	if !ok {
		return nil, p.unread
	}
	return line, nil
}

// send writes a line.
func (p *process) send(line []byte) error {
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return errGone
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

// failed ends the process and returns an error with the cause: why the process was killed if it
// was, how it ended if it ended by itself, or else err. Unless a context ended, the error includes
// the end of standard error.
func (p *process) failed(doing string, err error) error {
	if err == errGone {
		select {
		case <-p.ended:
			err = fmt.Errorf("%w (%v)", err, p.cmd.ProcessState)
		case <-time.After(farewell):
			p.kill(errClosed)
		}
	}
	p.kill(errInvalid)
	<-p.ended
	p.in.Close()
	p.out.Close()
	switch cause := context.Cause(p.killed); {
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		return cause
	case cause != errInvalid:
		err = cause
	}
	said := "its standard error is empty"
	if tail := p.stderr.String(); tail != "" {
		said = "the end of its standard error:\n" + tail
	}
	return fmt.Errorf("%s: %w; %s", doing, err, said)
}

// close ends the process: it closes the process's standard input, and kills the process if it
// does not end within farewell. It returns an error if the process has written a line, of any
// length, without a question.
func (p *process) close() error {
	p.in.Close()
	stop := p.within(context.Background(), farewell)
	<-p.ended
	stop()
	p.kill(nil)                                                     // nothing is left to kill
	defer time.AfterFunc(farewell, func() { p.out.Close() }).Stop() // another process may have it open
	for range p.answers {
	}
	p.out.Close()
	if p.unread != errGone {
		return p.unread
	}
	return nil
}

// A tail keeps the end of the text that is written to it. It needs no lock: it is read after the
// process has ended, and Wait returns only after the last Write.
type tail []byte

func (t *tail) Write(b []byte) (int, error) {
	*t = append(*t, b...)
	if cut := len(*t) - maxTail; cut > 0 {
		*t = append((*t)[:0], (*t)[cut:]...)
	}
	return len(b), nil
}

// String returns the last lines, indented, without control characters.
func (t *tail) String() string {
	var lines []string
	for line := range strings.Lines(string(*t)) {
		if line = clean(line); line != "" {
			lines = append(lines, "  "+line)
		}
	}
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
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

// excerpt returns the beginning of a line for a message.
func excerpt(line []byte) string {
	if len(line) <= maxExcerpt {
		return clean(string(line))
	}
	return clean(string(line[:maxExcerpt])) + "…"
}
