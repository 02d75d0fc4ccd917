package online

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"polkrepro/data/rows"
)

// ErrStopped is wrapped by the error of work whose context has ended.
var ErrStopped = errors.New("stopped")

// A Source is a file, or standard input.
type Source struct {
	Path   string    // "-" is Stdin
	Labels string    // the file of the labels, for formats that have one
	Stdin  io.Reader // read once

	// Rows, unless it is nil, are read in place of the file or of standard input: what
	// Path says of them still holds.
	Rows []rows.Row

	// Header says whether the first row of a CSV or TSV source is a header: rows.HeaderYes,
	// HeaderNo, or HeaderAuto, the default, which finds out; of standard input to predict or
	// to train further, by the first row alone.
	Header string

	// Decided, unless it is nil, is told what the first row of a CSV or TSV source is.
	Decided func(*rows.Layout)

	was  os.FileInfo // of the file when it was opened for the first time
	unit string      // what errors call a row, once it is open
}

// ErrChanged is wrapped by the error of a file that is read more than once and
// was changed in between.
var ErrChanged = errors.New("the file was changed while it was being trained on")

// stream reports whether the source can be read only once.
func (s *Source) stream() bool { return s.Path == "-" }

// name returns what errors call the source.
func (s *Source) name() string {
	if s.stream() {
		return "standard input"
	}
	return s.Path
}

// A rowReader hands on the rows of a source that a goroutine reads, so that waiting
// for the next row of a stream can be interrupted.
type rowReader struct {
	source *Source
	held   []rows.Row // handed on first
	rows   chan rows.Row
	enough chan struct{}
	err    error        // of the reader, once rows is closed
	layout *rows.Layout // of the columns, once next has returned; nil if there are none
	tell   bool         // the layout, to the source's Decided

	read *rows.Layout // by the goroutine; layout once next has returned
}

// open begins to read. The source says whether there is a header unless opts do. A regular
// file is open when it returns; a pipe may keep who opens it waiting for somebody to write.
func (s *Source) open(opts rows.Options) (*rowReader, error) {
	f := &rowReader{source: s, rows: make(chan rows.Row, 64), enough: make(chan struct{})}
	s.unit = rows.Unit(opts.Format)
	if opts.Header == "" {
		opts.Header, f.tell = s.Header, s.Decided != nil
	}
	opts.Say = rows.AsFlag // of train, predict and evaluate
	open := func() (*rows.Reader, error) {
		if s.stream() {
			return rows.New(s.Stdin, s.Labels, opts)
		}
		return rows.Open(s.Path, s.Labels, opts)
	}
	if s.Rows != nil {
		f.held, f.err = s.Rows, io.EOF
		close(f.rows)
		return f, nil
	}
	path, _ := rows.SplitArray(s.Path)
	info, err := os.Stat(path)
	switch {
	case !s.stream() && err != nil:
		return nil, err
	case s.stream() || !info.Mode().IsRegular():
		go f.fill(open)
		return f, nil
	}
	r, err := open()
	if err != nil {
		return nil, f.named(err)
	}
	if err := s.unchanged(r); err != nil {
		r.Close()
		return nil, err
	}
	go f.fill(func() (*rows.Reader, error) { return r, nil })
	return f, nil
}

// fill hands on what a Reader reads.
func (f *rowReader) fill(open func() (*rows.Reader, error)) {
	defer close(f.rows)
	r, err := open()
	if err != nil {
		f.err = err
		return
	}
	defer r.Close()
	for {
		row, err := r.Next()
		if l := r.Layout(); f.read == nil && l.Columns > 0 { // once: next may be reading it later
			f.read = l
		}
		if err != nil {
			f.err = err
			return
		}
		select {
		case f.rows <- *row:
		case <-f.enough:
			return
		}
	}
}

// unchanged reports a file that is another one than when it was opened for the
// first time, or has another size or time of change.
func (s *Source) unchanged(r *rows.Reader) error {
	now, err := r.Stat()
	if err != nil {
		return err
	}
	if s.was == nil {
		s.was = now
	}
	if os.SameFile(s.was, now) && s.was.Size() == now.Size() && s.was.ModTime().Equal(now.ModTime()) {
		return nil
	}
	return fmt.Errorf("%s: %w: it had %d bytes and the date %s, now it has %d bytes and the date %s", s.Path, ErrChanged,
		s.was.Size(), s.was.ModTime().Format(time.StampMicro), now.Size(), now.ModTime().Format(time.StampMicro))
}

// close lets the reader end. It does not wait for it: it may be waiting for a
// stream that says nothing.
func (f *rowReader) close() { close(f.enough) }

// next returns the next row; io.EOF if there is none, and an error that wraps
// ErrStopped if ctx ends first.
func (f *rowReader) next(ctx context.Context) (*rows.Row, error) {
	if len(f.held) > 0 && ctx.Err() == nil {
		row := f.held[0]
		f.held = f.held[1:]
		return &row, nil
	}
	select {
	case row, ok := <-f.rows:
		if f.layout == nil && f.read != nil {
			if f.layout = f.read; f.tell && f.layout.Line > 0 {
				f.source.Decided(f.layout)
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil, ErrStopped
		case ok:
			return &row, nil
		case f.err != io.EOF:
			return nil, f.named(f.err)
		}
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ErrStopped
	}
}

// named returns an error of the reader with the name of the file that it is about.
func (f *rowReader) named(err error) error {
	name := f.source.name()
	if oe, ok := errors.AsType[*rows.OptionError](err); ok && oe.Key == "labels" && f.source.Labels != "" {
		name = f.source.Labels
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok { // it has the name
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// ready reports whether next would not wait.
func (f *rowReader) ready() bool { return len(f.held)+len(f.rows) > 0 }

// at adds the place of a row to an error about it.
func (s *Source) at(row *rows.Row, err error) error {
	return fmt.Errorf("%s: %w", s.name(), &rows.ParseError{Line: row.Line, Unit: s.unit, Err: err})
}
