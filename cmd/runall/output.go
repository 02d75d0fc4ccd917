package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"polkrepro/data/rows"
	"polkrepro/harness"
	"polkrepro/internal/charset"
	"polkrepro/record"
)

// An output is standard output. It holds text for people until the command is done, and then
// writes all of it, without terminal control sequences. Output for programs bypasses it, see
// raw.
type output struct {
	to   io.Writer
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) { return o.text.Write(b) }

// finish writes the text, if there is any.
func (o *output) finish() error {
	if o.text.Len() == 0 {
		return nil
	}
	_, err := screen{o.to}.Write(o.text.Bytes())
	return err
}

// A screen is a writer without terminal control sequences, which the name of a file or
// column, or a label, could contain.
type screen struct{ to io.Writer }

func (s screen) Write(b []byte) (int, error) {
	if _, err := io.WriteString(s.to, charset.Shown(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// raw returns the writer behind an output or a screen: for output that programs read, which
// is written unchanged and at once, and for a display that redraws the terminal.
func raw(w io.Writer) io.Writer {
	switch w := w.(type) {
	case *output:
		return w.to
	case screen:
		return w.to
	}
	return w
}

// checkOutput returns an error if a file to write, given by a flag or its name, is one of the
// files that a command reads, by its path or by a symbolic or hard link: writing would destroy
// that file. It also returns an error if the output is in a sealed results folder or beside
// records. Call it before reading. None of the files has to exist, and "" is no file.
func checkOutput(what, path string, inputs ...string) error {
	if err := record.CheckOutput(path); err != nil {
		return harness.Usage(err)
	}
	out, err := os.Stat(path)
	if err != nil {
		return nil // path does not exist, or CheckFile returns the error
	}
	for _, name := range inputs {
		file, _ := rows.SplitArray(name)
		if in, err := os.Stat(file); err == nil && os.SameFile(out, in) {
			return harness.Usage(fmt.Errorf("%s %s is the same file as %s, which would be overwritten: name another file", what, path, name))
		}
	}
	return nil
}
