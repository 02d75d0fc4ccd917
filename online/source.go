package online

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"polkrepro/data"
)

// ErrStopped is wrapped by the error of work whose context has ended.
var ErrStopped = errors.New("stopped")

// A Source is a file, or standard input.
type Source struct {
	Path  string    // "-" is Stdin
	Stdin io.Reader // read once

	// Rows, unless it is nil, are read in place of the file or of standard input: what
	// Path says of them still holds.
	Rows []data.Row

	// Header says whether the first row of a CSV source is a header: data.HeaderYes,
	// HeaderNo, or HeaderAuto, the default, which finds out (see data.HeaderRule; of
	// standard input to predict or to train further, by the first row alone).
	Header string

	// Decided, unless it is nil, is told what the first row of a CSV source is.
	Decided func(data.FirstRow)

	was os.FileInfo // of the file when it was opened for the first time
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

// errEnough ends a rowReader that is no longer wanted.
var errEnough = errors.New("enough")

// A rowReader hands on the rows of a source that a goroutine reads, so that waiting
// for the next row of a stream can be interrupted.
type rowReader struct {
	source *Source
	rows   chan data.Row
	enough chan struct{}
	err    error          // of the reader, once rows is closed
	first  *data.FirstRow // of a CSV source, once next has returned; nil if it is empty
	tell   bool           // the first row, to the source's Decided

	read *data.FirstRow // by the goroutine; first once next has returned
}

// open begins to read. The source says whether there is a header unless opts do.
func (s *Source) open(opts data.RowOptions) (*rowReader, error) {
	open, err := s.opener()
	if err != nil {
		return nil, err
	}
	f := &rowReader{source: s, rows: make(chan data.Row, 64), enough: make(chan struct{})}
	if opts.Header.Is == "" {
		opts.Header.Is, f.tell = s.Header, s.Decided != nil
	}
	opts.Header.Decided = func(first data.FirstRow) { f.read = &first }
	hand := func(row data.Row) error {
		select {
		case f.rows <- row:
			return nil
		case <-f.enough:
			return errEnough
		}
	}
	go func() {
		defer close(f.rows)
		if s.Rows != nil {
			for i := 0; i < len(s.Rows) && f.err == nil; i++ {
				f.err = hand(s.Rows[i])
			}
			return
		}
		r, err := open()
		if err != nil {
			f.err = err
			return
		}
		defer r.Close()
		f.err = data.EachRow(r, opts, hand)
	}()
	return f, nil
}

// opener returns what opens the source. A regular file is open already; a pipe
// may keep who opens it waiting for somebody to write.
func (s *Source) opener() (func() (io.ReadCloser, error), error) {
	if s.stream() || s.Rows != nil {
		return func() (io.ReadCloser, error) { return io.NopCloser(s.Stdin), nil }, nil
	}
	info, err := os.Stat(s.Path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return func() (io.ReadCloser, error) { return os.Open(s.Path) }, nil
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return nil, err
	}
	if err := s.unchanged(f); err != nil {
		f.Close()
		return nil, err
	}
	return func() (io.ReadCloser, error) { return f, nil }, nil
}

// unchanged reports a file that is another one than when it was opened for the
// first time, or has another size or time of change.
func (s *Source) unchanged(f *os.File) error {
	now, err := f.Stat()
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
func (f *rowReader) next(ctx context.Context) (*data.Row, error) {
	select {
	case row, ok := <-f.rows:
		if f.first == nil && f.read != nil {
			if f.first = f.read; f.tell {
				f.source.Decided(*f.first)
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil, ErrStopped
		case ok:
			return &row, nil
		case f.err != nil:
			if _, ok := errors.AsType[*fs.PathError](f.err); ok { // it has the name
				return nil, f.err
			}
			return nil, fmt.Errorf("%s: %w", f.source.name(), f.err)
		}
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ErrStopped
	}
}

// ready reports whether next would not wait.
func (f *rowReader) ready() bool { return len(f.rows) > 0 }

// at adds the place of a row to an error about it.
func (s *Source) at(row *data.Row, err error) error {
	return fmt.Errorf("%s: line %d: %w", s.name(), row.Line, err)
}
