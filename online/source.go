package online

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"polkrepro/data/rows"
)

// ErrStopped is wrapped by the error of work whose context has ended.
var ErrStopped = errors.New("stopped")

// A Source is a file, or standard input.
type Source struct {
	Path   string    // "-" is Stdin
	Labels string    // the file of the labels, for formats that have one
	Stdin  io.Reader // read once

	// Rows, unless nil, are read in place of the file or of standard input. Path still
	// decides whether they are a stream.
	Rows []rows.Row

	// Header says whether the first row of a CSV or TSV source is a header: rows.HeaderYes,
	// HeaderNo, or HeaderAuto, the default, which detects it.
	Header string

	// Columns and Label say how rows are read for a model, where they differ from its training rows.
	Columns rows.Columns
	Label   rows.Column

	// Say, unless nil, is called with what the reader says of the rows; see [rows.Reader.Said].
	Say func(format string, args ...any)

	// Decided, unless nil, is called once it is known whether the first row of a CSV or
	// TSV source is a header.
	Decided func(*rows.Layout)

	unit string // name of a row in errors, set by open
}

// ErrChanged is wrapped by the error of a file whose rows differ from those of an earlier pass.
var ErrChanged = errors.New("the file was changed while it was being trained on")

// stream reports whether the source can be read only once.
func (s *Source) stream() bool { return s.Path == "-" }

// name returns the name of the source in errors.
func (s *Source) name() string {
	if s.Rows != nil {
		return "the rows"
	}
	if s.stream() {
		return "standard input"
	}
	return s.Path
}

// A rowReader delivers the rows of a source. A goroutine reads them, so that waiting
// for the next row of a stream can be interrupted.
type rowReader struct {
	source *Source
	held   []rows.Row // rows to deliver first
	rows   chan readRow
	enough chan struct{}
	last   []string     // what the reader said at the end, once rows is closed
	err    error        // error of the reader, once rows is closed
	layout *rows.Layout // layout of the columns, once next has returned; nil if there are none
	tell   bool         // whether to pass the layout to the source's Decided, and what the reader says to Say

	read *rows.Layout // layout as the goroutine read it; next copies it to layout
}

// A readRow is a row with what its reader said before it.
type readRow struct {
	rows.Row
	said []string
}

// open starts reading. A Header in opts overrides that of the source. The goroutine opens the
// file, since opening a pipe may block until there is a writer.
func (s *Source) open(opts rows.Options) *rowReader {
	f := &rowReader{source: s, rows: make(chan readRow, 64), enough: make(chan struct{})}
	s.unit = rows.Unit(opts.Format)
	if opts.Header == "" {
		opts.Header, f.tell = s.Header, true
	}
	if s.Rows != nil {
		s.unit = "row"
		f.held, f.err = s.Rows, io.EOF
		close(f.rows)
	} else {
		go f.fill(opts)
	}
	return f
}

// fill opens the source and sends its rows to f.rows.
func (f *rowReader) fill(opts rows.Options) {
	defer close(f.rows)
	var r *rows.Reader
	var err error
	if s := f.source; s.stream() {
		r, err = rows.New(s.Stdin, s.Labels, opts)
	} else {
		r, err = rows.Open(s.Path, s.Labels, opts)
	}
	if err != nil {
		f.err = err
		return
	}
	defer r.Close()
	defer func() { f.last = r.Said() }()
	for {
		row, err := r.Next()
		if l := r.Layout(); f.read == nil && l.Columns > 0 { // set once: later, next may be reading it
			f.read = l
		}
		if err != nil {
			f.err = err
			return
		}
		select {
		case f.rows <- readRow{*row, r.Said()}:
		case <-f.enough:
			return
		}
	}
}

// close tells the goroutine to end. It does not wait for the goroutine, which may
// be blocked on a silent stream.
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
			if f.layout = f.read; f.tell && f.source.Decided != nil && f.layout.Line > 0 {
				f.source.Decided(f.layout)
			}
		}
		if !ok {
			row.said, f.last = f.last, nil
		}
		f.say(row.said)
		switch {
		case ctx.Err() != nil:
			return nil, ErrStopped
		case ok:
			return &row.Row, nil
		case f.err != io.EOF:
			return nil, f.named(f.err)
		}
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ErrStopped
	}
}

// say passes lines to the source's Say.
func (f *rowReader) say(lines []string) {
	for _, line := range lines {
		if f.tell && f.source.Say != nil {
			f.source.Say("%s: %s", f.source.name(), line)
		}
	}
}

// named adds the name of the affected file to an error of the reader.
func (f *rowReader) named(err error) error {
	name := f.source.name()
	if oe, ok := errors.AsType[*rows.OptionError](err); ok && oe.Key == "labels" && f.source.Labels != "" {
		name = f.source.Labels
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok { // the error has the name already
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// featureName returns how messages name a feature, counted from 0.
func (f *rowReader) featureName(q int) string {
	if f.layout == nil {
		return fmt.Sprintf("feature %d", q+1)
	}
	return f.layout.Feature(q)
}

// columns returns what a model keeps of how its columns are read, as given or, of a table, as the reader
// has fitted it.
func (f *rowReader) columns(given *rows.Columns) *rows.Columns {
	if f.layout != nil {
		given = &f.layout.Read
	}
	if given == nil {
		return nil
	}
	return given.Stored()
}

// columnName returns how messages name the column of value q of the rows.
func (f *rowReader) columnName(q int) string {
	if f.layout == nil {
		return f.featureName(q)
	}
	return f.layout.Feature(f.layout.First(q))
}

// ready reports whether next would return without waiting.
func (f *rowReader) ready() bool { return len(f.held)+len(f.rows) > 0 }

// at adds the position of a row to an error about the row.
func (s *Source) at(row *rows.Row, err error) error {
	return fmt.Errorf("%s: %w", s.name(), &rows.ParseError{Line: row.Line, Unit: s.unit, Err: err})
}
