package main

import (
	"bytes"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"polkrepro/internal/charset"
)

// An output is standard output. It keeps the first error of writing, which many
// a function that writes a table passes over, and what a command that does not
// stream writes until it is through: one that is interrupted writes nothing.
type output struct {
	to   io.Writer
	end  *ending
	mu   sync.Mutex
	held *bytes.Buffer // nil if nothing is kept
	err  error

	bytes bool         // what is written is not changed
	line  bytes.Buffer // the beginning of a line that is not whole yet
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.held != nil {
		return o.held.Write(b)
	}
	return o.write(b)
}

// write writes what is displayed of b: whole lines.
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

// begin is called when a command begins its work. From then on what it writes is
// kept, unless it streams.
func (o *output) begin(cmd *cobra.Command) {
	o.end.command.Store(cmd)
	o.bytes = writesForPrograms(cmd)
	if !has(cmd, streams) {
		o.held = new(bytes.Buffer)
	}
}

// finish writes what was kept, and returns the first error of all writing.
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

// A screen is standard error: what a terminal would obey in the name of a file or column,
// or in a label, is not written.
type screen struct{ to io.Writer }

func (s screen) Write(b []byte) (int, error) {
	if _, err := io.WriteString(s.to, charset.Shown(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// raw returns what is behind a screen, for what redraws a terminal.
func raw(w io.Writer) io.Writer {
	if s, ok := w.(screen); ok {
		return s.to
	}
	return w
}
