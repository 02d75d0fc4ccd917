package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"polkrepro/internal/charset"
	"polkrepro/internal/files"
)

// sumTail is the text after the sum in the last line.
const sumTail = "\"}\n"

// An Error describes a problem with a record's file.
type Error struct {
	Path string
	Line int // 1 for the first; 0 if it is about the whole file
	Err  error
}

// Error returns "path:line: cause". It quotes a path with unprintable characters, which
// could control a terminal.
func (e *Error) Error() string {
	path := e.Path
	if !charset.Printable(path) {
		path = strconv.Quote(path)
	}
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", path, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", path, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrIncomplete is the cause of an Error for a file that ends too early, after a
// killed run or a truncation.
var ErrIncomplete = errors.New("the record is incomplete")

// Unreadable reports whether the system refused to read a file or folder, for want of a permission
// or by a fault of a disk. Such an error says nothing about the contents.
func Unreadable(err error) bool {
	return errors.As(err, new(*fs.PathError)) && !errors.Is(err, fs.ErrNotExist)
}

// ErrDamaged is the cause of an Error for a file whose contents don't match its
// digest or sum.
var ErrDamaged = errors.New("the record was changed after it was written")

// Read reads the finished record at path, whose name must be its ID and ".jsonl", or
// ".jsonl.gz" if it is packed. The record must be complete: a header, points with
// increasing samples, and a final line with the correct digest and sum. They must fit the
// run and each other. Otherwise the error is an *Error, or that of opening or reading the file.
//
// Read opens only regular files and reads at most MaxSize bytes, packed or not.
func Read(path string) (*Record, error) {
	return readFinished(path, new(packing))
}

// readFinished is Read for one of several records, whose unpacked bytes p counts.
func readFinished(path string, p *packing) (*Record, error) {
	id, ok := strings.CutSuffix(strings.TrimSuffix(filepath.Base(path), packedSuffix), sealedSuffix)
	if !ok || strings.HasSuffix(path, failedSuffix) {
		return nil, &Error{path, 0, fmt.Errorf("a finished record is named ID%s: %w", sealedSuffix, ErrIncomplete)}
	}
	return readFile(path, id, "final", p)
}

// ReadFailed reads the record of a run that failed, whose name must be its ID
// and ".failed.jsonl". It is as strict as Read.
func ReadFailed(path string) (*Record, error) {
	id, ok := strings.CutSuffix(filepath.Base(path), failedSuffix)
	if !ok {
		return nil, &Error{path, 0, fmt.Errorf("a failed run's record is named ID%s", failedSuffix)}
	}
	return readFile(path, id, "failure", new(packing))
}

// A Collection is the contents of a folder of records.
type Collection struct {
	Records map[string]*Record // finished runs by ID
	Failed  map[string]*Record // failed runs by ID
	Partial []string           // IDs of unfinished runs: killed, or still running
	Errors  []error            // one for each file that is named like a record but is not valid
}

// ErrDamagedRecords is wrapped by the error of [Collection.Damage].
var ErrDamagedRecords = errors.New("damaged records")

// Damage returns an error that names the damaged files, or nil if there are none.
func (c *Collection) Damage() error {
	if len(c.Errors) == 0 {
		return nil
	}
	var names []string
	for _, err := range c.Errors {
		if e, ok := errors.AsType[*Error](err); ok {
			names = append(names, e.Path)
		} else {
			names = append(names, err.Error())
		}
	}
	return fmt.Errorf("%w: %s", ErrDamagedRecords, strings.Join(names, ", "))
}

// Failures returns the errors of the runs that failed, by ID.
func (c *Collection) Failures() map[string]string {
	failed := make(map[string]string, len(c.Failed))
	for id, f := range c.Failed {
		failed[id] = f.Failure.Error
	}
	return failed
}

// ReadDir reads all records in a folder. It skips subfolders and files that are not
// named like records. Damaged files, and packed files beyond MaxUnpacked in total, are
// in the collection's Errors and not in its maps. The error is that of listing the
// folder, which wraps os.ErrNotExist if the folder does not exist, or that of a file that is
// [Unreadable].
func ReadDir(dir string) (*Collection, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	c := &Collection{Records: make(map[string]*Record), Failed: make(map[string]*Record)}
	var p packing
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(dir, name)
		var r *Record
		var err error
		into := c.Records
		switch {
		case e.IsDir():
			continue
		case strings.HasSuffix(name, partialSuffix):
			c.Partial = append(c.Partial, strings.TrimSuffix(name, partialSuffix))
			continue
		case strings.HasSuffix(name, failedSuffix):
			r, err = ReadFailed(path)
			into = c.Failed
		case strings.HasSuffix(name, sealedSuffix), strings.HasSuffix(name, sealedSuffix+packedSuffix):
			r, err = readFinished(path, &p)
			if err == nil && c.Records[r.Header.ID] != nil {
				err = &Error{path, 0, fmt.Errorf("a second record of the run of %s", filepath.Base(c.Records[r.Header.ID].Path))}
			}
		default:
			continue
		}
		switch {
		case err == nil:
			into[r.Header.ID] = r
		case errors.Is(err, fs.ErrNotExist): // removed since the folder was listed
		case Unreadable(err):
			return nil, fmt.Errorf("%w; make it readable, or move it out of the folder", err)
		default:
			c.Errors = append(c.Errors, err)
		}
	}
	return c, nil
}

func readFile(path, id, last string, p *packing) (*Record, error) {
	if !validID.MatchString(id) {
		return nil, &Error{path, 0, errors.New("the file name is not a run ID")}
	}
	b, err := files.Read(path, MaxSize)
	if errors.As(err, new(*fs.PathError)) {
		return nil, err
	}
	if err == nil && strings.HasSuffix(path, packedSuffix) {
		b, err = p.unpack(b)
	}
	if err != nil {
		return nil, &Error{path, 0, err}
	}
	return parse(path, id, last, b)
}

// A parser reads the lines of a record's file.
type parser struct {
	rec  Record
	id   string // the run's ID in the file's name
	last string // type of the last line: final or failure
	line int    // number of the line being read, from 1
	sum  string // sum in the last line, once that line is read
}

// parse reads the contents of a file whose last line must be of type last.
func parse(path, id, last string, b []byte) (*Record, error) {
	p := parser{rec: Record{Path: path}, id: id, last: last}
	rest, err := p.lines(b)
	if err == nil {
		p.line = 0
		err = p.checkSum(b, rest)
	}
	if err == nil {
		err = p.rec.check()
	}
	if err != nil {
		return nil, &Error{path, p.line, err}
	}
	return &p.rec, nil
}

// lines reads up to and including the last line and returns the bytes after it.
func (p *parser) lines(b []byte) (rest []byte, err error) {
	for p.sum == "" {
		p.line++
		text, more, ok := bytes.Cut(b, []byte("\n"))
		if !ok {
			return nil, fmt.Errorf("no line of type %s: %w", p.last, ErrIncomplete)
		}
		b = more
		kind, err := lineType(text)
		if err != nil {
			return nil, err
		}
		if err := p.read(kind, text); err != nil {
			return nil, err
		}
		if kind == p.last && p.sum == "" {
			return nil, fmt.Errorf("no sum: %w", ErrDamaged)
		}
	}
	return b, nil
}

// lineType returns the type of a line, which is its first key.
func lineType(text []byte) (kind string, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	for _, want := range []json.Token{json.Delim('{'), "type"} {
		if t, err := d.Token(); err != nil || t != want {
			return "", json.Unmarshal(text, &struct{}{}) // an error unless text is JSON of unknown type
		}
	}
	err = d.Decode(&kind)
	return kind, err
}

// read reads one line.
func (p *parser) read(kind string, text []byte) error {
	switch {
	case p.line == 1 && kind == "run":
		return p.header(text)
	case p.line == 1:
		return fmt.Errorf("type %q in the first line, want run", kind)
	case kind == "point":
		return p.point(text)
	case kind == p.last && p.last == "final":
		return p.final(text)
	case kind == p.last:
		return p.failed(text)
	}
	return fmt.Errorf("unexpected line of type %q", kind)
}

func (p *parser) header(text []byte) error {
	h := &p.rec.Header
	if err := h.UnmarshalJSON(text); err != nil {
		return err
	}
	if h.Format != Format {
		return fmt.Errorf("format %d, this program reads %d", h.Format, Format)
	}
	if h.ID != p.id {
		return fmt.Errorf("record of run %q in a file named after %q", h.ID, p.id)
	}
	return h.checkText()
}

func (p *parser) point(text []byte) error {
	var point Point
	if err := point.UnmarshalJSON(text); err != nil {
		return err
	}
	if err := errors.Join(point.checkText(), point.check(), p.rec.follow(point)); err != nil {
		return err
	}
	p.rec.Points = append(p.rec.Points, point)
	return nil
}

func (p *parser) final(text []byte) error {
	f := &p.rec.Final
	if err := f.UnmarshalJSON(text); err != nil {
		return err
	}
	if err := errors.Join(f.checkText(), f.check(), p.rec.close(f.Samples)); err != nil {
		return err
	}
	if digest(&p.rec) != f.Digest {
		return fmt.Errorf("wrong digest: %w", ErrDamaged)
	}
	p.sum = f.Sum
	return nil
}

func (p *parser) failed(text []byte) error {
	f := &p.rec.Failure
	if err := strict(text, f); err != nil {
		return err
	}
	f.Error = charset.Shown(f.Error)
	p.sum = f.Sum
	return p.rec.close(f.Samples)
}

// checkSum compares the sum in the last line with the bytes before it. rest, the bytes
// after that line, must be empty.
func (p *parser) checkSum(b, rest []byte) error {
	if len(rest) > 0 {
		return fmt.Errorf("data after the last line: %w", ErrDamaged)
	}
	if sum, ok := files.Sum(b, sumTail); !ok || sum != p.sum {
		return fmt.Errorf("wrong sum: %w", ErrDamaged)
	}
	return nil
}
