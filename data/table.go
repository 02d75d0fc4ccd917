package data

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"polkrepro/data/rows"
)

// A table is the contents of a user's files. A command reads them once, whatever asks for them: all
// data sets of the same rows and columns, such as the splits of a file, are views of one table.
type table struct {
	keys  [2]string // of the options that it was read with, and of the reference that resulted
	files Files     // without what makes a data set of the contents: the scale and what is held out
	sizes *sync.Map // the Info of the data sets that were made, by Files of Ref.Content

	found []os.FileInfo // the files, as they were before they were read
	began time.Time     // when reading began

	*contents // nil once they are released
}

// contents are the rows of a table. They do not change.
type contents struct {
	train, test part         // test has no rows if there is no test file
	labels      *rows.Labels // of the training file; nil for a regression
}

// A part is the training or the test part of a user's data, as read from its files.
type part struct {
	key    string
	x, y   *File
	layout rows.Layout
	rows   []rows.Row
	filled map[int][]int // rows.Reader.Filled of each row that has any
	dim    int           // features
}

// tables holds the tables of a command, that which was asked for last at the end.
var tables struct {
	sync.Mutex
	all []*table
}

// heldValues bounds the values that tables hold for whoever asks next, as maxSourceValues counts them.
// The last table may have more.
const heldValues = 1 << 26

// oldEnough is the age of a file from which its time shows every change. File systems round times, to up to 2 s.
const oldEnough = 2 * time.Second

// Release releases the rows of users' files that no data set in use has. They are read again when they are needed.
func Release() {
	tables.Lock()
	defer tables.Unlock()
	for _, t := range tables.all {
		t.contents = nil
	}
}

// tableOf returns the table of files f, and fills in f from it. SHA-256 that f has already must be those
// of the files. opts has the columns, and the training file's header. With brief, contents that were
// released are not read again.
func tableOf(f *Files, opts rows.Options, testHeader string, say func(string, ...any), brief bool) (table, error) {
	found, err := f.locate()
	if err != nil {
		return table{}, err
	}
	opts.Format, opts.Regression = f.Format, f.Regression
	key := f.key(opts, testHeader)
	tables.Lock()
	defer tables.Unlock()
	t := &table{sizes: new(sync.Map)}
	if at := slices.IndexFunc(tables.all, func(t *table) bool { return slices.Contains(t.keys[:], key) && t.current(found) }); at >= 0 {
		t = tables.all[at]
		tables.all = slices.Delete(tables.all, at, at+1)
	}
	if t.contents == nil && !(brief && t.found != nil) {
		t.files, t.found, t.began = f.unsplit(), found, time.Now()
		if err := t.read(opts, testHeader, say); err != nil {
			return table{}, err
		}
		t.keys = [2]string{key, t.files.key(t.files.options(), t.files.TestHeader)}
	}
	tables.all = append(tables.all, t)
	trim(tables.all)
	return *t, t.describe(f)
}

// trim releases the contents of the tables at the beginning if there are more than heldValues values.
func trim(all []*table) {
	values := 0
	for i, t := range slices.Backward(all) {
		if values += t.values(); values > heldValues && i < len(all)-1 {
			t.contents = nil
		}
	}
}

// key says how files with the names of f are read with some options.
func (f *Files) key(opts rows.Options, testHeader string) string {
	return fmt.Sprintf("%+v %q %q", opts, testHeader, []string{f.Train.Name, f.TrainLabels.Name, f.Test.Name, f.TestLabels.Name})
}

// unsplit returns f without what makes a data set of the files' contents.
func (f *Files) unsplit() Files {
	c := *f
	c.Scale, c.Holdout, c.SplitSeed, c.Ordered, c.Splits = "", 0, 0, false, 0
	return c
}

// current reports whether the files that were found now are those that were read.
func (t *table) current(found []os.FileInfo) bool {
	return slices.EqualFunc(t.found, found, func(a, b os.FileInfo) bool {
		return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && t.began.Sub(a.ModTime()) > oldEnough
	})
}

// values returns the number of values in memory, as maxSourceValues counts them.
func (t *table) values() int {
	if t.contents == nil {
		return 0
	}
	return len(t.train.rows)*(t.train.dim+rowOverhead) + len(t.test.rows)*(t.test.dim+rowOverhead)
}

// describe fills in f from the table.
func (t *table) describe(f *Files) error {
	c := t.files
	c.Scale, c.Holdout, c.SplitSeed, c.Ordered, c.Splits = f.Scale, f.Holdout, f.SplitSeed, f.Ordered, f.Splits
	described := c.parts()
	for i, p := range f.parts() {
		if err := p.file.check(p.key, described[i].file.SHA256); err != nil {
			return err
		}
		*described[i].file = File{Name: p.file.Name, SHA256: described[i].file.SHA256, path: p.file.path}
	}
	*f = c
	return nil
}

// check compares the SHA-256 that a file should have, unless it is empty, with that of the bytes read.
func (f *File) check(key, sum string) error {
	if f.SHA256 != "" && f.SHA256 != sum {
		return wrong(key, "%s: %w: SHA-256 %s, want %s: the file has changed; rerun the command or restore the file", f.path, ErrCorrupt, sum, f.SHA256)
	}
	return nil
}

// read reads the files, and fills in their SHA-256, columns and headers.
func (t *table) read(opts rows.Options, testHeader string, say func(string, ...any)) error {
	f := &t.files
	opts.Sum = true
	t.contents = &contents{train: part{key: "train", x: &f.Train, y: &f.TrainLabels}, test: part{key: "test", x: &f.Test, y: &f.TestLabels}}
	if err := t.train.read(opts, say); err != nil {
		return err
	}
	f.Ignore = numbersOf(t.train.layout.Ignore)
	f.keep(&t.train.layout, opts.Columns)
	if f.Format != rows.FormatLIBSVM {
		f.Label = t.train.layout.Label + 1
	}
	if rows.IsTable(f.Format) {
		f.Header = t.train.layout.Header()
	}
	if f.Test != (File{}) {
		if err := t.readTest(testHeader, say); err != nil {
			return err
		}
	}
	if !f.Regression {
		t.labels = &rows.Labels{}
		if err := t.train.countLabels(t.labels, f.Format); err != nil {
			return wrong("train", "%s: %w", f.Train.path, err)
		}
	}
	return nil
}

// readTest reads the test file with the columns of the training file.
func (t *table) readTest(header string, say func(string, ...any)) error {
	f := &t.files
	opts := f.options()
	opts.Columns = t.train.layout.Read
	opts.Ignore, opts.Keep, opts.Categories = nil, nil, nil
	opts.Header, opts.Dim, opts.Sum = header, t.train.dim, true
	if t.train.layout.Names != nil {
		opts.Names = t.train.layout.Sum()
	}
	if err := t.test.read(opts, say); err != nil {
		return err
	}
	t.test.dim = t.train.dim
	if rows.IsTable(f.Format) {
		f.TestHeader = t.test.layout.Header()
	}
	return nil
}

// read reads the part's rows, and fills in the SHA-256 of its files. One that is there already must be the same.
func (p *part) read(opts rows.Options, say func(string, ...any)) error {
	sums, err := p.readRows(opts, say)
	if err != nil {
		return p.wrong(err)
	}
	for i, f := range []*File{p.x, p.y} {
		if err := f.check([]string{p.key, p.key + "_labels"}[i], sums[i]); err != nil {
			return err
		}
		f.SHA256 = sums[i]
	}
	return nil
}

// wrong adds the file and its key in a spec to an error of the part.
func (p *part) wrong(err error) error {
	key, path := p.key, p.x.path
	if oe, ok := errors.AsType[*rows.OptionError](err); ok {
		if key, err = oe.Key, oe.Err; key == "labels" {
			key, path = p.key+"_labels", p.y.path
		}
	}
	return wrong(key, "%s: %w", path, err)
}

// maxSourceValues bounds the values of a file, rows × features: 2 GiB. Each row counts as rowOverhead
// additional values.
const (
	maxSourceValues = 1 << 28
	rowOverhead     = 16
)

// room returns an error if n rows are too many.
func room(n, dim int) error {
	if int64(n) > maxSourceValues/int64(dim+rowOverhead) {
		return fmt.Errorf("more than %d rows of %d features", maxSourceValues/(dim+rowOverhead), dim)
	}
	return nil
}

// readRows reads all rows, and returns the SHA-256 of the files.
func (p *part) readRows(opts rows.Options, say func(string, ...any)) (sums [2]string, err error) {
	r, err := rows.Open(p.x.path, p.y.path, opts)
	if err != nil {
		return sums, err
	}
	defer r.Close()
	p.filled = make(map[int][]int)
	for {
		row, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return sums, err
		}
		p.dim = max(p.dim, row.Dim)
		if err := room(len(p.rows)+1, p.dim); err != nil {
			return sums, err
		}
		if filled := r.Filled(); filled != nil {
			p.filled[len(p.rows)] = filled
		}
		p.rows = append(p.rows, *row)
	}
	p.layout = *r.Layout()
	for _, line := range r.Said() {
		if say != nil {
			say("%s: %s", p.x.path, line)
		}
	}
	switch {
	case len(p.rows) == 0:
		return sums, errors.New("the file has no rows")
	case p.dim == 0:
		return sums, errors.New("no row has a feature")
	}
	sums[0], sums[1], err = r.Sums()
	return sums, err
}

// countLabels counts the labels of all rows. It returns an error if they can't be classes.
func (p *part) countLabels(labels *rows.Labels, format string) error {
	for i := range p.rows {
		if err := labels.Add(p.rows[i].Label); err != nil {
			return &rows.ParseError{Line: p.rows[i].Line, Unit: rows.Unit(format), Err: err}
		}
	}
	switch {
	case labels.Len() < 2:
		return fmt.Errorf("every label is %.40q: classification needs at least two classes", p.rows[0].Label)
	case labels.Unrepeated():
		return errors.New("most labels occur only once: check the label column, or use squared-error as the task for a regression")
	}
	return nil
}
