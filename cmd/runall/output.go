package main

import (
	"bytes"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"polkrepro/internal/charset"
)

// An output is standard output. It keeps the first write error, because many functions
// that write tables ignore it. It holds the output of a command that does not stream until
// the command is done: an interrupted command writes nothing.
type output struct {
	to   io.Writer
	end  *ending
	mu   sync.Mutex
	held *bytes.Buffer // nil if output is not held
	err  error

	bytes bool         // output is written unchanged
	line  bytes.Buffer // the beginning of an incomplete line
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.held != nil {
		return o.held.Write(b)
	}
	return o.write(b)
}

// write writes b. Unless bytes is set, it writes only complete lines and replaces hidden
// characters.
func (o *output) write(b []byte) (int, error) {
	if o.bytes {
		return len(b), o.put(b)
	}
	o.line.Write(b)
	whole := o.line.Next(bytes.LastIndexByte(o.line.Bytes(), '\n') + 1)
	return len(b), o.put([]byte(charset.Shown(string(whole))))
}

func (o *output) put(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := o.to.Write(b)
	if err != nil && o.err == nil {
		o.err = err
	}
	return err
}

// begin is called when a command begins its work. From then on its output is held, unless
// the command streams.
func (o *output) begin(cmd *cobra.Command) {
	o.end.command.Store(cmd)
	o.bytes = writesForPrograms(cmd)
	if !has(cmd, streams) {
		o.held = new(bytes.Buffer)
	}
}

// finish writes the held output and returns the first error of all writes.
func (o *output) finish() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.held != nil && o.held.Len() > 0 {
		o.write(o.held.Bytes())
	}
	o.held = nil
	if o.line.Len() > 0 {
		o.put([]byte(charset.Shown(o.line.String())))
	}
	return o.err
}

// A screen is standard error without terminal control sequences, which the name of a file
// or column, or a label, could contain.
type screen struct{ to io.Writer }

func (s screen) Write(b []byte) (int, error) {
	if _, err := io.WriteString(s.to, charset.Shown(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// raw returns the writer behind a screen, for a display that redraws the terminal.
func raw(w io.Writer) io.Writer {
	if s, ok := w.(screen); ok {
		return s.to
	}
	return w
}
