package online

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"polkrepro/data"
)

// ErrStopped is wrapped by the error of work whose context has ended.
var ErrStopped = errors.New("stopped")

// A Source is a file, or standard input.
type Source struct {
	Path  string    // "-" is Stdin
	Stdin io.Reader // read once

	// Header says whether the first row of a CSV source is a header: data.HeaderYes,
	// HeaderNo, or HeaderAuto, the default, which finds out (see data.HeaderRule; of
	// standard input to predict or to train further, by the first row alone).
	Header string

	// Decided, unless it is nil, is told what the first row of a CSV source is.
	Decided func(data.FirstRow)
}

// stream reports whether the source can be read only once.
func (s *Source) stream() bool { return s.Path == "-" }

// name returns what errors call the source.
func (s *Source) name() string {
	if s.stream() {
		return "standard input"
	}
	return s.Path
}

// errEnough ends a feed that is no longer wanted.
var errEnough = errors.New("enough")

// A feed hands on the rows of a source that a goroutine reads, so that waiting
// for the next row of a stream can be interrupted.
type feed struct {
	source *Source
	rows   chan data.Row
	enough chan struct{}
	err    error          // of the reader, once rows is closed
	first  *data.FirstRow // of a CSV source, once next has returned; nil if it is empty
	tell   bool           // the first row, to the source's Decided

	decided *data.FirstRow // the reader's, until next takes it over
}

// open begins to read. The source says whether there is a header unless opts do.
func (s *Source) open(opts data.RowOptions) (*feed, error) {
	var r io.ReadCloser = io.NopCloser(s.Stdin)
	if !s.stream() {
		f, err := os.Open(s.Path)
		if err != nil {
			return nil, err
		}
		r = f
	}
	f := &feed{source: s, rows: make(chan data.Row, 64), enough: make(chan struct{})}
	if opts.Header.Is == "" {
		opts.Header.Is, f.tell = s.Header, s.Decided != nil
	}
	opts.Header.Decided = func(first data.FirstRow) { f.decided = &first }
	go func() {
		defer close(f.rows)
		defer r.Close()
		f.err = data.EachRow(r, opts, func(row data.Row) error {
			select {
			case f.rows <- row:
				return nil
			case <-f.enough:
				return errEnough
			}
		})
	}()
	return f, nil
}

// close lets the reader end. It does not wait for it: it may be waiting for a
// stream that says nothing.
func (f *feed) close() { close(f.enough) }

// next returns the next row; io.EOF if there is none, and an error that wraps
// ErrStopped if ctx ends first.
func (f *feed) next(ctx context.Context) (*data.Row, error) {
	select {
	case row, ok := <-f.rows:
		if f.first == nil && f.decided != nil {
			if f.first = f.decided; f.tell {
				f.source.Decided(*f.first)
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil, ErrStopped
		case ok:
			return &row, nil
		case f.err != nil:
			return nil, fmt.Errorf("%s: %w", f.source.name(), f.err)
		}
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ErrStopped
	}
}

// ready reports whether next would not wait.
func (f *feed) ready() bool { return len(f.rows) > 0 }

// at adds the place of a row to an error about it.
func (s *Source) at(row *data.Row, err error) error {
	return fmt.Errorf("%s: line %d: %w", s.name(), row.Line, err)
}
